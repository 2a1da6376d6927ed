"""A crowd from one network waits for itself alone, and everybody else is served meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from service.identity.fair_turns import PER_NETWORK, FairTurns
from service.protocol.errors import TemporarilyUnavailable, TooManyRequests


async def take(turns: FairTurns, network: str, served: list[str]) -> None:
    async with turns.place(network), turns.turn(network):
        served.append(network)
        await asyncio.sleep(0)


async def test_another_network_waits_for_one_of_a_crowd_at_most() -> None:
    turns, served = FairTurns(free=1), list[str]()
    async with turns.turn("first"):
        waiting = [asyncio.create_task(take(turns, "crowd", served)) for _ in range(50)]
        await asyncio.sleep(0)
        waiting += [asyncio.create_task(take(turns, name, served)) for name in ("home", "office")]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert served[:4] == ["crowd", "home", "office", "crowd"]
    assert turns.free == 1


async def test_a_network_has_so_many_places_and_no_more() -> None:
    turns, served = FairTurns(free=1), list[str]()
    async with turns.turn("first"):
        crowd = [asyncio.create_task(take(turns, "crowd", served)) for _ in range(PER_NETWORK + 9)]
        await asyncio.sleep(0)
    ends = await asyncio.gather(*crowd, return_exceptions=True)
    refused = [end for end in ends if end is not None]
    assert [type(end) for end in refused] == [TooManyRequests] * 9
    assert len(served) == PER_NETWORK


async def test_who_waits_too_long_for_a_turn_is_asked_to_come_back() -> None:
    turns = FairTurns(free=1, patience=0.01)
    async with turns.turn("one"):
        with pytest.raises(TemporarilyUnavailable):
            async with turns.turn("other"):
                pytest.fail("the only turn is taken")
    assert turns.free == 1


async def test_a_turn_of_somebody_who_has_left_goes_to_the_next() -> None:
    turns, served = FairTurns(free=1), list[str]()
    async with turns.turn("first"):
        leaving = asyncio.create_task(take(turns, "leaving", served))
        staying = asyncio.create_task(take(turns, "staying", served))
        await asyncio.sleep(0)
        leaving.cancel()
    await staying
    assert (served, turns.free) == (["staying"], 1)


async def test_a_turn_that_comes_in_the_moment_of_leaving_is_passed_on() -> None:
    turns, served = FairTurns(free=1), list[str]()
    async with turns.turn("first"):
        leaving = asyncio.create_task(take(turns, "leaving", served))
        staying = asyncio.create_task(take(turns, "staying", served))
        await asyncio.sleep(0)
    leaving.cancel()
    await staying
    assert (served, turns.free) == (["staying"], 1)
