"""A master of a Cluster that is cut off from the others, and not from the service, does not keep it from its successor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from redis.crc import key_slot
from redis.exceptions import ClusterDownError, RedisError

from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.opening import open_store
from service.store.tracking import Tracking
from service.store.verbs import Read
from tests.driving.program import eventually
from tests.driving.redis_servers import SLOTS, RedisCluster, TcpRedis, cluster

pytestmark = [pytest.mark.needs("redis-server"), pytest.mark.rfc("9110#15.6.4")]

KEY = next(f"ts:{{{n}}}:k" for n in count() if key_slot(b"%d" % n) < SLOTS // 3)
"""The first master has it."""


@pytest.fixture
def whole(tmp_path: Path) -> Iterator[RedisCluster]:
    with cluster(tmp_path, replicas=1) as whole:
        yield whole


@pytest.fixture
async def kv(whole: RedisCluster) -> AsyncIterator[KeyValue]:
    store = open_store(whole.url, timeout=30)
    await store.write(("SET", KEY, b"1", "EX", 600))
    yield store
    await store.close()


def cut_off(whole: RedisCluster) -> None:
    """Let the first master know no other server, and its replica take over."""
    master, successor = whole.masters[0], whole.replicas[0]
    _, written, _ = master.tell("ROLE")
    eventually(lambda: successor.tell("ROLE")[4] >= written)
    others = [each for each in whole.servers if each is not master]
    for each in others:
        master.tell("CLUSTER", "FORGET", each.tell("CLUSTER", "MYID"))
    eventually(lambda: is_down(master))
    successor.tell("CLUSTER", "FAILOVER", "TAKEOVER")
    for each in others:
        eventually(partial(has_slots, each, successor))


def is_down(master: TcpRedis) -> bool:
    try:
        master.tell("GET", KEY)
    except ClusterDownError:
        return True
    except RedisError:
        return False
    return False


def has_slots(server: TcpRedis, owner: TcpRedis) -> bool:
    """Whether a server says that this one has the first slots."""
    slots: list[tuple[int, int, tuple[bytes, int]]] = server.tell("CLUSTER", "SLOTS")
    return min(slots)[2][1] == owner.port


async def test_the_successor_of_a_master_that_says_clusterdown_is_found(
    kv: KeyValue, whole: RedisCluster
) -> None:
    await asyncio.to_thread(cut_off, whole)
    async with asyncio.timeout(60):
        while not await is_readable(kv):  # noqa: ASYNC110 - it is no event
            await asyncio.sleep(0.05)
    assert [await is_readable(kv) for _ in range(20)] == [True] * 20


@pytest.mark.usefixtures("kv")
async def test_what_is_kept_of_a_master_that_was_cut_off_does_not_count(
    whole: RedisCluster,
) -> None:
    tracked = open_store(whole.url, timeout=30, tracking=Tracking(100))
    assert await read_tracked(tracked) == 1
    assert tracked.tracking is not None
    async with asyncio.timeout(60):
        while not tracked.tracking.is_fresh:  # noqa: ASYNC110 - it is no event
            await asyncio.sleep(0.05)
    await asyncio.to_thread(cut_off, whole)
    whole.replicas[0].tell("SET", KEY, b"2", "EX", 600)
    async with asyncio.timeout(60):
        while await read_tracked(tracked) != 2:  # noqa: ASYNC110 - it is no event
            await asyncio.sleep(0.05)
    await tracked.close()


async def read_tracked(kv: KeyValue) -> int | None:
    try:
        value, _, _ = await kv.read_tracked(Read(KEY, int), Read(KEY + "2", int))
    except StoreUnavailable:
        return None
    return value


async def is_readable(kv: KeyValue) -> bool:
    try:
        return await kv.read(Read(KEY, int)) == (1,)
    except StoreUnavailable:
        return False
