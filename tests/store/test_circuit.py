"""A circuit is never open for good."""

from __future__ import annotations

import asyncio

from service.store.engine.circuit import Circuit


async def test_whatever_a_probe_ends_with_the_next_one_may_close_the_circuit() -> None:
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
