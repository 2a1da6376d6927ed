"""A circuit is never open for good."""

from __future__ import annotations

import asyncio

import pytest

from service.store.engine.multiplexed import Multiplexed


class Connection:
    """One that cannot be made, each time for the next of these reasons."""

    def __init__(self, reasons: list[Exception]) -> None:
        self._reasons = reasons

    async def connect(self) -> None:
        raise self._reasons.pop(0)


async def test_a_probe_that_fails_unexpectedly_is_followed_by_another() -> None:
    lost = ConnectionError("lost")
    reasons: list[Exception] = [lost, ValueError("not one of Redis' own"), *[lost] * 50]
    line = Multiplexed(lambda: Connection(reasons), patience=1)
    with pytest.raises(ConnectionError, match="lost"):
        await line.ask([("PING",)], seconds=1)
    async with asyncio.timeout(10):
        while len(reasons) > 49:  # noqa: ASYNC110 - it is no event
            await asyncio.sleep(0.01)
    assert line.circuit_open
    line.close()
