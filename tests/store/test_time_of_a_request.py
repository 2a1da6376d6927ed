"""A request has so much time for the store, and waiting for anything else takes nothing of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from service.model.request_context import CurrentRequest, current_request
from service.store.engine.engine import Engine
from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.opening import open_store
from service.store.verbs import Command


class SluggishChannel:
    """A channel to a Redis that takes a second for everything."""

    circuit_open = False

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """Answer late, or give up in time."""
        async with asyncio.timeout(seconds):
            await asyncio.sleep(1)
            return [None] * len(commands)

    def close(self) -> None:
        """Hold no connection."""


def sluggish(*, timeout: float) -> KeyValue:
    """Return a store behind that channel."""
    channel = SluggishChannel()
    return KeyValue(Engine(channel=channel, durable=channel, tracked=channel), timeout=timeout)


async def test_time_that_is_not_spent_on_the_store_is_not_counted() -> None:
    kv = open_store("memory://", timeout=2)
    current_request.set(CurrentRequest(id="", store_seconds=1))
    await asyncio.sleep(1.2)
    await kv.ping()
    await kv.close()


async def test_all_work_together_has_to_be_done_in_time() -> None:
    kv = sluggish(timeout=2)
    current_request.set(CurrentRequest(id="", store_seconds=2.7))
    await kv.ping()
    await kv.ping()
    with pytest.raises(StoreUnavailable):
        await kv.ping()


async def test_one_command_has_its_own_limit() -> None:
    kv = sluggish(timeout=0.05)
    with pytest.raises(StoreUnavailable):
        await kv.ping()
