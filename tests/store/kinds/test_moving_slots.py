"""A slot of a Cluster may move while the service runs: its keys are found at both servers, and then at the new one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from service.store import verbs
from service.store.keyvalue import KeyValue
from service.store.opening import open_store
from service.store.tracking import Tracking
from service.store.verbs import Read
from tests.driving.redis_servers import SLOTS, RedisCluster, TcpRedis

pytestmark = pytest.mark.needs("redis-server")

NUMBERS = iter(range(1000))
"""Each test takes other slots: the servers are shared."""


@pytest.fixture
async def kv(three_masters: RedisCluster) -> AsyncIterator[KeyValue]:
    store = open_store(three_masters.url, timeout=30, wait_for_replicas=0)
    yield store
    await store.close()


def keys_of(master: TcpRedis) -> tuple[int, str, str]:
    """A slot of the first master that no other test has moved away, and two keys in it."""
    for number in NUMBERS:
        text, count = f"ts:{{moving-{number}}}:text", f"ts:{{moving-{number}}}:count"
        slot = master.tell("CLUSTER", "KEYSLOT", text)
        if slot < SLOTS // 3 and master.tell("CLUSTER", "COUNTKEYSINSLOT", slot) == 0:
            return slot, text, count
    raise AssertionError("there is one")


async def test_keys_of_a_slot_are_found_while_it_moves_and_afterwards(
    three_masters: RedisCluster, kv: KeyValue
) -> None:
    source, target, _ = three_masters.masters
    slot, text, count = keys_of(source)
    to, of = (each.tell("CLUSTER", "MYID").decode() for each in (target, source))
    await kv.write(("SET", text, b"7", "EX", 60), verbs.drop(count))
    target.tell("CLUSTER", "SETSLOT", slot, "IMPORTING", of)
    source.tell("CLUSTER", "SETSLOT", slot, "MIGRATING", to)
    assert await kv.read(Read(text, int), Read(count, int)) == (7, None)  # ASK for the second
    assert await kv.write(verbs.count(count, 60), verbs.count(count, 60)) == [1, 2]
    source.tell("MIGRATE", "127.0.0.1", target.port, text, 0, 2000)
    assert await kv.read(Read(text, int), Read(count, int)) == (7, 2)
    for master in three_masters.masters:
        master.tell("CLUSTER", "SETSLOT", slot, "NODE", to)
    assert await kv.read(Read(text, int), Read(count, int)) == (7, 2)  # MOVED
    assert await kv.write(verbs.count(count, 60)) == [3]


async def test_what_is_kept_of_a_slot_that_has_moved_does_not_count(
    three_masters: RedisCluster, kv: KeyValue
) -> None:
    source, target, _ = three_masters.masters
    slot, text, count = keys_of(source)
    tracked = open_store(three_masters.url, timeout=30, tracking=Tracking(100))
    reads = Read(text, int), Read(count, int)
    async with asyncio.timeout(60):
        while not (await tracked.read_tracked(*reads))[2]:  # noqa: ASYNC110 - until it is kept
            await asyncio.sleep(0.05)
    to = target.tell("CLUSTER", "MYID").decode()
    for master in three_masters.masters:
        master.tell("CLUSTER", "SETSLOT", slot, "NODE", to)
    await kv.write(("SET", text, b"8", "EX", 60))
    async with asyncio.timeout(60):
        while (await tracked.read_tracked(*reads))[0] != 8:  # noqa: ASYNC110 - it is no event
            await asyncio.sleep(0.05)
    await tracked.close()
