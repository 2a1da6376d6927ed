"""Every verb on every kind of store: what it answers, that it bears repetition, and that it touches one key."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import getmembers, isclass
from typing import Any

import pytest

from service.store import index_verbs, verbs
from service.store.index_verbs import (
    Defer,
    Enqueue,
    IndexAdd,
    IndexCount,
    IndexFirst,
    IndexKeep,
    IndexLast,
    IndexMembers,
    IndexRemove,
)
from service.store.keyvalue import KeyValue
from service.store.verbs import (
    Count,
    Drop,
    Exists,
    Extend,
    Put,
    PutLasting,
    PutNew,
    Read,
    Replace,
    Rewrite,
    Swap,
    Write,
)
from tests.driving.redis_servers import RedisCluster

pytestmark = pytest.mark.needs("redis-server")

NOW = 1_800_000_000
LATER = NOW + 60


def sample(verb: type[Any], key: str) -> Write:
    """One of each."""
    samples: dict[type[Any], Write] = {
        Put: Put(key, b"new", 60),
        PutLasting: PutLasting(key, b"new"),
        PutNew: PutNew(key, b"new", 60),
        Replace: Replace(key, b"old", b"new"),
        Swap: Swap(key, b"new", 60),
        Rewrite: Rewrite(key, b"new"),
        Extend: Extend(key, 60),
        Drop: Drop(key),
        Count: Count(key, 60),
        Exists: Exists(key),
        IndexAdd: IndexAdd(key, "new", LATER, NOW),
        IndexKeep: IndexKeep(key, LATER, NOW),
        IndexRemove: IndexRemove(key, "old"),
        IndexCount: IndexCount(key, NOW),
        IndexMembers: IndexMembers(key, NOW),
        IndexFirst: IndexFirst(key, 5),
        IndexLast: IndexLast(key, 5),
        Enqueue: Enqueue(key, "new", LATER, 600),
        Defer: Defer(key, "old", LATER),
    }
    return samples[verb]


def every_verb() -> Iterator[type[Any]]:
    """All that the two files have; a new one is missed in the samples above."""
    for module in (verbs, index_verbs):
        for _, found in getmembers(module, isclass):
            if found.__module__ == module.__name__ and found not in (Read, Write):
                yield found


VERBS = [pytest.param(verb, id=verb.__name__) for verb in every_verb()]


async def prepared(kv: KeyValue, verb: type[Any]) -> str:
    """A key with something of the right kind in it."""
    key = f"ts:{{{verb.__name__}}}:x"
    await kv.write(Drop(key))
    if verb.__module__ == index_verbs.__name__:
        await kv.write(IndexAdd(key, "old", NOW + 30, NOW))
    elif verb is not Count:
        await kv.write(Put(key, b"old", 30))
    return key


async def content(kv: KeyValue, key: str, verb: type[Any]) -> object:
    """What the key holds."""
    if verb.__module__ == index_verbs.__name__:
        return await kv.write(IndexMembers(key, NOW), IndexFirst(key, 9), IndexCount(key, NOW + 45))
    return await kv.read(Read(key, bytes))


@pytest.mark.parametrize("verb", VERBS)
async def test_it_may_be_repeated_when_its_answer_was_lost(kv: KeyValue, verb: type[Any]) -> None:
    key = await prepared(kv, verb)
    await kv.write(sample(verb, key))
    once = await content(kv, key, verb)
    await kv.write(sample(verb, key))
    # A counter goes on, which refuses somebody one request earlier; nothing else sees a difference.
    assert (await content(kv, key, verb) == once) is (verb is not Count)


async def test_each_answers_as_it_says(kv: KeyValue) -> None:
    await kv.write(Drop("ts:{a}:k"), Drop("ts:{b}:k"), Drop("ts:{c}:n"), Drop("ts:{d}:i"))
    new, again = await kv.write(PutNew("ts:{a}:k", b"1", 60), PutNew("ts:{a}:k", b"2", 60))
    assert (bool(new), bool(again)) == (True, False)
    swapped = await kv.write(Swap("ts:{a}:k", b"3", 60), Swap("ts:{b}:k", b"3", 60))
    assert swapped == [b"1", None]
    there = await kv.write(Exists("ts:{a}:k"), Exists("ts:{b}:k"), Count("ts:{c}:n", 60))
    assert there == [1, 0, 1]
    added = await kv.write(
        IndexAdd("ts:{d}:i", "m", LATER, NOW), IndexMembers("ts:{d}:i", NOW), Drop("ts:{a}:k")
    )
    assert added == [1, [b"m"], 1]


async def test_many_keys_are_read_in_the_order_of_the_question(kv: KeyValue) -> None:
    await kv.write(*[Put(f"ts:{{{n}}}:k", str(n).encode(), 60) for n in range(100)])
    assert await kv.read(*[Read(f"ts:{{{n}}}:k", int) for n in range(100)]) == tuple(range(100))


async def test_all_keys_are_found_wherever_they_are(kv: KeyValue) -> None:
    await kv.write(*[Put(f"ts:{{walk-{n}}}:k", b"", 60) for n in range(100)])
    found = [key async for key in kv.keys("ts:{walk-*}:k")]
    assert sorted(found) == sorted(f"ts:{{walk-{n}}}:k" for n in range(100))


async def test_compare_and_set_has_one_winner(kv: KeyValue) -> None:
    await kv.write(Drop("ts:lasting"))
    assert await kv.replace("ts:lasting", old=None, new=b"1")
    assert not await kv.replace("ts:lasting", old=None, new=b"2")
    assert not await kv.replace("ts:lasting", old=b"2", new=b"3")
    assert await kv.replace("ts:lasting", old=b"1", new=b"4")
    assert await kv.get("ts:lasting") == b"4"


async def test_it_says_what_it_does_when_it_is_full(kv: KeyValue) -> None:
    assert await kv.eviction_policy() == "noeviction"


async def test_it_says_how_full_it_is(kv: KeyValue) -> None:
    used, limit = await kv.memory() or (0, 1)
    assert used > 0
    assert limit == 0


@pytest.mark.parametrize("verb", VERBS)
def test_redis_finds_no_second_key_in_it(three_masters: RedisCluster, verb: type[Any]) -> None:
    command = sample(verb, "ts:{x}:k").command
    assert three_masters.masters[0].tell("COMMAND", "GETKEYS", *command) == [b"ts:{x}:k"]
