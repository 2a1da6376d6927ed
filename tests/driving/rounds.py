"""Waits until the outboxes have been read again and again, by which time an attempt that is due has been made."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from service.outbox import delivering
from service.outbox.delivering import Deliveries

NextRounds = Callable[[], Awaitable[None]]

ROUNDS = 10
"""Readings that an attempt of the first of them has until its request has arrived."""


@pytest.fixture(autouse=True)
def outboxes_are_read_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the folders whose conftest imports it: deliveries that are due again need no second."""
    monkeypatch.setattr(delivering, "INTERVAL", 0.05)


@pytest.fixture
def next_rounds(monkeypatch: pytest.MonkeyPatch) -> NextRounds:
    """Return what waits until each outbox has been read so many times more."""
    done = Counter[int]()
    take_due = Deliveries[Any]._take_due  # noqa: SLF001

    async def count_round(self: Deliveries[Any]) -> Any:
        due = await take_due(self)
        done[id(self)] += 1
        return due

    monkeypatch.setattr(Deliveries, "_take_due", count_round)

    async def wait() -> None:
        before = Counter(done)
        while any(done[each] < before[each] + ROUNDS for each in before):  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    return wait
