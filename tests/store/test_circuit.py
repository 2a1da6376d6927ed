"""A circuit is never open for good."""

from __future__ import annotations

import asyncio

from service.store.engine.multiplexed import Circuit


async def test_a_probe_that_fails_unexpectedly_is_followed_by_another() -> None:
    ends: list[Exception | None] = [ValueError("not one of Redis' own"), None]

    async def probe() -> None:
        if (error := ends.pop(0)) is not None:
            raise error

    circuit = Circuit(probe)
    circuit.open(ConnectionError("lost"))
    async with asyncio.timeout(10):
        while circuit.is_open:  # noqa: ASYNC110 - it is no event
            await asyncio.sleep(0.01)
    assert not ends
