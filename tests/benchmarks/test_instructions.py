"""Instructions are those of requests alone."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from benchmarks import instructions
from benchmarks.load import Requests
from benchmarks.servers import Server

EACH, TIMERS, TAKES = 250_000, 1_000_000, 0.5
"""Instructions of a request and of the timers in a second, and seconds of a request."""
ONCE = 600_000_000
"""Instructions that make a key."""


async def test_what_timers_do_meanwhile_is_no_part_of_a_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed, sent = 0.0, 0

    async def let_pass(seconds: float) -> None:
        nonlocal passed
        passed += seconds

    async def send(*_: object) -> None:
        nonlocal sent
        sent += 1
        await let_pass(TAKES)

    monkeypatch.setattr(instructions, "send", send)
    monkeypatch.setattr(instructions, "monotonic", lambda: passed)
    monkeypatch.setattr(asyncio, "sleep", let_pass)
    monkeypatch.setattr(instructions, "_instructions", lambda _: sent * EACH + passed * TIMERS)
    assert await _count() == EACH


async def test_what_a_server_does_once_is_no_part_of_a_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = 0

    async def send(*_: object) -> None:
        nonlocal sent
        sent += 1

    def count(_: object) -> int:
        return sent * EACH + ONCE * (sent > instructions.WARMING + instructions.TOGETHER)

    monkeypatch.setattr(instructions, "send", send)
    monkeypatch.setattr(instructions, "_instructions", count)
    assert await _count() == EACH


async def _count() -> float:
    server = Server(running=cast("Any", None), port=1)
    return await instructions._count(server, Requests(path="/", body=""))  # noqa: SLF001
