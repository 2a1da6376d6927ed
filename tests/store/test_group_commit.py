"""Writes that are confirmed together end each in its own time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from service.store.engine.channels import GroupCommit
from service.store.verbs import Command

REPLICA_TAKES = 0.2


class Line:
    """A channel to a Redis whose one replica takes some time to confirm a write."""

    circuit_open = False

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """Every command is done; the last is WAIT."""
        word, _, milliseconds = commands[-1]
        assert word == "WAIT"
        waits = int(milliseconds) / 1000
        await asyncio.sleep(min(waits, REPLICA_TAKES))
        return [b"OK"] * (len(commands) - 1) + [int(waits > REPLICA_TAKES)]

    def close(self) -> None:
        """Nothing is held."""


async def test_a_caller_with_little_time_left_fails_alone() -> None:
    durable = GroupCommit(Line(), replicas=1)
    results: list[object] = await asyncio.gather(
        durable.ask([("SET", "a", "1")], seconds=REPLICA_TAKES / 4),
        durable.ask([("SET", "b", "1")], seconds=REPLICA_TAKES * 20),
        return_exceptions=True,
    )
    assert isinstance(results[0], TimeoutError)
    assert results[1] == [b"OK"]
