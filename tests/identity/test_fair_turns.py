"""Many requests of one network wait for themselves alone; those of others are served meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from service.identity import passwords
from service.identity.passwords import PER_NETWORK, FairTurns
from service.protocol.errors import TemporarilyUnavailable, TooManyRequests


async def take(turns: FairTurns, network: str, served: list[str]) -> None:
    async with turns.place(network), turns.turn(network):
        served.append(network)
        await asyncio.sleep(0)


async def test_request_of_another_network_waits_for_one_of_a_crowd_at_most() -> None:
    turns, served = FairTurns(1), list[str]()
    async with turns.turn("first"):
        waiting = [asyncio.create_task(take(turns, "crowd", served)) for _ in range(50)]
        await asyncio.sleep(0)
        waiting += [asyncio.create_task(take(turns, name, served)) for name in ("home", "office")]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert served[:4] == ["crowd", "home", "office", "crowd"]
    assert await is_free(turns)


async def test_network_that_takes_more_than_its_places_gets_too_many_requests() -> None:
    turns, served = FairTurns(1), list[str]()
    async with turns.turn("first"):
        crowd = [asyncio.create_task(take(turns, "crowd", served)) for _ in range(PER_NETWORK + 9)]
        await asyncio.sleep(0)
    ends = await asyncio.gather(*crowd, return_exceptions=True)
    refused = [end for end in ends if end is not None]
    assert [type(end) for end in refused] == [TooManyRequests] * 9
    assert len(served) == PER_NETWORK


async def is_free(turns: FairTurns) -> bool:
    """Whether the only turn can be taken at once."""
    async with asyncio.timeout(30), turns.turn("next"):
        return True


async def test_request_that_waits_too_long_for_a_turn_is_temporarily_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passwords, "PATIENCE", 0.01)
    turns = FairTurns(1)
    async with turns.turn("one"):
        with pytest.raises(TemporarilyUnavailable):
            async with turns.turn("other"):
                pytest.fail("the only turn is taken")
    assert await is_free(turns)


async def test_turn_of_a_cancelled_request_goes_to_the_next() -> None:
    turns, served = FairTurns(1), list[str]()
    async with turns.turn("first"):
        leaving = asyncio.create_task(take(turns, "leaving", served))
        staying = asyncio.create_task(take(turns, "staying", served))
        await asyncio.sleep(0)
        leaving.cancel()
    await staying
    assert served == ["staying"]
    assert await is_free(turns)


async def test_turn_that_comes_in_the_moment_of_cancellation_is_passed_on() -> None:
    turns, served = FairTurns(1), list[str]()
    async with turns.turn("first"):
        leaving = asyncio.create_task(take(turns, "leaving", served))
        staying = asyncio.create_task(take(turns, "staying", served))
        await asyncio.sleep(0)
    leaving.cancel()
    await staying
    assert served == ["staying"]
    assert await is_free(turns)
