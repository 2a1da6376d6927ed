"""A circuit is never open for good."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from service.store.engine.channels import RESTS, Multiplexed
from service.store.engine.connection import Connection
from service.store.engine.engine import ConnectionLost


async def test_a_probe_that_fails_unexpectedly_is_followed_by_another() -> None:
    lost = ConnectionLost("no")
    attempts = len(RESTS) + 1
    reasons: list[Exception] = [*[lost] * attempts, ValueError("unforeseen"), *[lost] * 50]

    async def connect(_: Callable[[], Connection]) -> Connection:
        raise reasons.pop(0)

    line = Multiplexed(connect, patience=1)
    with pytest.raises(ConnectionLost):
        await line.ask([("PING",)], seconds=1)
    async with asyncio.timeout(10):
        while len(reasons) > 49:  # noqa: ASYNC110 - it is no event
            await asyncio.sleep(0.01)
    assert line.circuit_open
    line.close()
