"""A record that was read stays in the process until Redis says that it has changed, and counts only while Redis can say so."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

from service.store.engine import connection
from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.opening import open_store
from service.store.tracking import Kept, Tracking
from service.store.verbs import Read
from tests.conftest import redis_running

pytestmark = pytest.mark.needs("redis-server")

ONE, TWO = Read("{k}:one", int), Read("{k}:two", int)


@pytest.fixture
def admin(redis_server: str) -> Iterator[Redis]:
    """Another client of the same Redis, which is empty at first."""
    with Redis.from_url(redis_server) as redis:
        redis.flushall()
        yield redis


@pytest.fixture
async def kv(redis_server: str, admin: Redis) -> AsyncIterator[KeyValue]:
    admin.mset({ONE.key: 1, TWO.key: 2})
    store = open_store(redis_server, timeout=30, tracking=Tracking(1000))
    yield store
    await store.close()


async def values(kv: KeyValue) -> tuple[int | None, int | None]:
    one, two, _ = await kv.read_tracked(ONE, TWO)
    return one, two


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - it is no event
            await asyncio.sleep(0.01)


async def kept(kv: KeyValue) -> Tracking:
    """Read both, and wait until they count without asking Redis."""
    assert kv.tracking is not None
    await values(kv)
    await wait_until(lambda: kv.tracking is not None and kv.tracking.is_fresh)
    return kv.tracking


def reads(admin: Redis) -> int:
    stats: dict[str, Any] = admin.info("commandstats")
    return int(stats.get("cmdstat_get", {}).get("calls", 0))


async def test_what_was_read_is_not_asked_for_again(kv: KeyValue, admin: Redis) -> None:
    await kept(kv)
    before = reads(admin)
    assert [await values(kv) for _ in range(5)] == [(1, 2)] * 5
    assert reads(admin) == before


async def test_a_key_that_is_not_there_is_kept_as_missing(kv: KeyValue, admin: Redis) -> None:
    admin.delete(TWO.key)
    await kept(kv)
    before = reads(admin)
    assert await values(kv) == (1, None)
    assert reads(admin) == before
    admin.set(TWO.key, 4)
    await wait_until_read(kv, (1, 4))


async def wait_until_read(kv: KeyValue, expected: tuple[int | None, int | None]) -> None:
    async with asyncio.timeout(60):
        while await values(kv) != expected:  # noqa: ASYNC110 - it is no event
            await asyncio.sleep(0.001)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda admin: admin.set(ONE.key, 3), (3, 2)),
        (lambda admin: admin.delete(ONE.key), (None, 2)),
        (lambda admin: admin.pexpire(ONE.key, 1), (None, 2)),
        (lambda admin: admin.flushall(), (None, None)),
    ],
    ids=["written", "dropped", "expired", "emptied"],
)
async def test_a_change_elsewhere_is_seen(
    kv: KeyValue, admin: Redis, change: Callable[[Redis], object], expected: tuple[int | None, int]
) -> None:
    await kept(kv)
    change(admin)
    await wait_until_read(kv, expected)


async def test_a_change_of_this_process_is_seen_at_once(kv: KeyValue) -> None:
    await kept(kv)
    for number in range(100):
        await kv.write(("SET", ONE.key, str(number).encode()))
        assert await values(kv) == (number, 2)


async def test_a_lost_connection_makes_everything_unknown(kv: KeyValue, admin: Redis) -> None:
    tracking = await kept(kv)
    place = tracking.reserve(ONE.key)
    assert place.is_known
    admin.client_kill_filter(_type="normal", skipme=True)
    await wait_until(lambda: not place.is_current)
    assert not tracking.is_fresh
    admin.set(ONE.key, 5)
    assert await values(kv) == (5, 2)
    await kept(kv)


async def test_a_server_that_is_no_master_any_more_is_not_believed(tmp_path: Path) -> None:
    with redis_running(tmp_path) as (url, _), Redis.from_url(url) as admin:
        admin.mset({ONE.key: 1, TWO.key: 2})
        kv = open_store(url, timeout=30, tracking=Tracking(1000))
        tracking = await kept(kv)
        place = tracking.reserve(ONE.key)
        assert place.is_known
        admin.replicaof("127.0.0.1", 1)
        await wait_until(lambda: not place.is_current)
        assert not tracking.is_fresh
        await kv.close()


async def test_without_the_right_to_track_every_read_asks_redis(
    redis_server: str, admin: Redis
) -> None:
    admin.acl_setuser(
        "plain", enabled=True, nopass=True, keys=["*"], commands=["+@all", "-client|tracking"]
    )
    admin.mset({ONE.key: 1, TWO.key: 2})
    url = redis_server.replace("://", "://plain:x@")
    kv = open_store(url, timeout=30, tracking=Tracking(10))
    assert await values(kv) == (1, 2)
    before = reads(admin)
    assert [await values(kv) for _ in range(3)] == [(1, 2)] * 3
    assert reads(admin) == before + 6
    await kv.close()
    admin.acl_deluser("plain")


@contextmanager
def time_moved(monkeypatch: pytest.MonkeyPatch, seconds: float) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr("service.store.tracking.monotonic", lambda: monotonic() + seconds)
        yield


async def test_nothing_counts_for_longer_than_redis_is_silent(
    kv: KeyValue, admin: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracking = await kept(kv)
    before = reads(admin)
    with time_moved(monkeypatch, connection.TRUST):
        assert not tracking.is_fresh
        assert await values(kv) == (1, 2)
    assert reads(admin) == before + 2


async def test_a_redis_that_stands_still_is_an_honest_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with redis_running(tmp_path) as (url, process):
        kv = open_store(url, timeout=2, tracking=Tracking(10))
        await kept(kv)
        process.send_signal(signal.SIGSTOP)
        with time_moved(monkeypatch, connection.TRUST), pytest.raises(StoreUnavailable):
            await values(kv)
        process.send_signal(signal.SIGCONT)
        await kv.close()


async def test_values_that_make_room_are_unknown(kv: KeyValue) -> None:
    tracking = await kept(kv)
    place = tracking.reserve(ONE.key)
    for number in range(1000):
        tracking.reserve(f"other{number}")
    assert not place.is_current
    assert not tracking.reserve(ONE.key).is_known


class Model:
    """Redis answers and tells of changes in one order; the process uses an answer at any later time."""

    def __init__(self) -> None:
        self.tracking = Tracking(10)
        self.stored = [0, 0, 0]
        self.watched: set[int] = set()
        self.on_the_way: list[tuple[int, int, Kept | None]] = []
        """Keys with their values and the places that wait for them; without a place, keys that have changed."""
        self.arrived: list[tuple[Kept, int]] = []

    def ask(self, key: int) -> None:
        self.on_the_way.append((key, self.stored[key], self.tracking.reserve(str(key))))
        self.watched.add(key)

    def change(self, key: int) -> None:
        self.stored[key] += 1
        if key in self.watched:
            self.watched.remove(key)
            self.on_the_way.append((key, 0, None))

    def receive(self, _: int) -> None:
        if self.on_the_way:
            key, value, place = self.on_the_way.pop(0)
            if place is None:
                self.tracking.forget([str(key)])
            else:
                self.arrived.append((place, value))

    def use(self, _: int) -> None:
        if self.arrived:
            place, value = self.arrived.pop(0)
            place.value = value

    def is_right(self, key: int) -> bool:
        """Whether what is kept is what Redis has, or news of the change is on the way."""
        kept = self.tracking.reserve(str(key))
        told = any(at == key and place is None for at, _, place in self.on_the_way)
        return not kept.is_known or kept.value == self.stored[key] or told


@given(st.lists(st.tuples(st.sampled_from(["ask", "change", "receive", "use"]), st.integers(0, 2))))
def test_an_old_value_is_never_kept(steps: list[tuple[str, int]]) -> None:
    model = Model()
    for step, key in steps:
        getattr(model, step)(key)
        assert all(model.is_right(each) for each in range(3))
