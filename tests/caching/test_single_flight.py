"""Work is done once for all callers that come at the same time, and again for the next ones."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any

import pytest

from service.single_flight import SingleFlight


class Work:
    """Work that takes until a test ends it, and counts how often it was begun."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended = asyncio.Event()
        self.failure: Exception | None = None

    async def do(self, key: str) -> int:
        self.begun.append(key)
        await self.ended.wait()
        if self.failure is not None:
            raise self.failure
        return len(self.begun)


@pytest.fixture
async def work() -> Work:
    return Work()


async def begin(flights: SingleFlight[str, int], work: Work, *keys: str) -> list[asyncio.Task[int]]:
    """Callers at the same time, as far as they come without an end of the work."""

    def start(key: str) -> Coroutine[Any, Any, int]:
        return flights.run(key, lambda: work.do(key))

    callers = [asyncio.create_task(start(key)) for key in keys]
    for _ in range(3):
        await asyncio.sleep(0)
    return callers


async def test_callers_at_the_same_time_share_a_result(work: Work) -> None:
    flights = SingleFlight[str, int]()
    callers = await begin(flights, work, *["a"] * 5)
    work.ended.set()
    assert await asyncio.gather(*callers) == [1] * 5
    assert await flights.run("a", lambda: work.do("a")) == 2


async def test_different_keys_do_not_wait_for_each_other(work: Work) -> None:
    await begin(SingleFlight(), work, "a", "b", "a")
    assert work.begun == ["a", "b"]
    work.ended.set()


async def test_callers_at_the_same_time_share_an_exception_that_the_next_one_does_not_see(
    work: Work,
) -> None:
    flights = SingleFlight[str, int]()
    work.failure = ValueError("broken")
    callers = await begin(flights, work, "a", "a")
    work.ended.set()
    assert await asyncio.gather(*callers, return_exceptions=True) == [work.failure] * 2
    work.failure = None
    assert await flights.run("a", lambda: work.do("a")) == 2


async def test_a_cancelled_caller_does_not_cancel_the_work_of_others(work: Work) -> None:
    first, second = await begin(SingleFlight(), work, "a", "a")
    first.cancel()
    work.ended.set()
    assert await second == 1


async def test_a_failure_that_no_caller_waits_for_is_not_reported_as_forgotten(
    work: Work, caplog: pytest.LogCaptureFixture
) -> None:
    work.failure = ValueError("broken")
    (caller,) = await begin(SingleFlight(), work, "a")
    caller.cancel()
    work.ended.set()
    for _ in range(3):
        await asyncio.sleep(0)
    gc.collect()
    assert caplog.text == ""


async def test_a_refusal_to_begin_is_not_shared() -> None:
    flights = SingleFlight[str, int]()

    def refuse() -> Coroutine[Any, Any, int]:
        raise PermissionError

    with pytest.raises(PermissionError):
        await flights.run("a", refuse)
    assert flights.get("a") is None


async def test_all_work_can_be_cancelled(work: Work) -> None:
    flights = SingleFlight[str, int]()
    callers = await begin(flights, work, "a", "b")
    flights.cancel_all()
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert [type(result) for result in results] == [asyncio.CancelledError] * 2
