"""Whatever ails Redis, the answer is 503 and never about tokens; what it still can do goes on (RFC 6749 §4.1.2.1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from redis.crc import key_slot
from structlog.testing import capture_logs

from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.opening import open_store
from service.store.verbs import Read
from tests.driving.client_app import ClientApp
from tests.driving.redis_servers import TcpRedis, cluster
from tests.driving.service import Answer, RunningService

pytestmark = [pytest.mark.needs("redis-server"), pytest.mark.rfc("9110#15.6.4")]

SECONDS = 3
"""`store.timeout` of these tests: a busy machine answers within it."""


@dataclass(frozen=True)
class Trouble:
    """Commands that bring a Redis into trouble, and out of it."""

    begins: tuple[str, ...]
    ends: tuple[str, ...]
    reads_go_on: bool = True


REPLICA = "REPLICAOF 127.0.0.1 1"
STALE = "CONFIG SET replica-serve-stale-data "
TROUBLES = {
    "OOM": Trouble(("CONFIG SET maxmemory 1",), ("CONFIG SET maxmemory 0",)),
    "NOREPLICAS": Trouble(
        ("CONFIG SET min-replicas-to-write 1",), ("CONFIG SET min-replicas-to-write 0",)
    ),
    "READONLY": Trouble((REPLICA,), ("REPLICAOF NO ONE",)),
    "MASTERDOWN": Trouble(
        (STALE + "no", REPLICA), (STALE + "yes", "REPLICAOF NO ONE"), reads_go_on=False
    ),
    "NOPERM": Trouble(("ACL SETUSER default -set",), ("ACL SETUSER default +@all",)),
}


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[TcpRedis]:
    """It loses nothing when it dies, and does not wait for a disk that others use, too."""
    with TcpRedis(tmp_path, "--appendonly", "yes", "--appendfsync", "no") as started:
        yield started


@pytest.fixture
def own_store(redis: TcpRedis) -> str:
    return redis.url


@pytest.fixture
def settings() -> dict[str, str]:
    """The other keys of `store` in the configuration."""
    return {}


@pytest.fixture
def config(config: dict[str, Any], own_store: str, settings: dict[str, str]) -> dict[str, Any]:
    config["store"] = {"url": own_store, "timeout": f"{SECONDS}s", **settings}
    return config


@pytest.fixture
async def kv(redis: TcpRedis) -> AsyncIterator[KeyValue]:
    """The store itself."""
    store = open_store(redis.url, timeout=SECONDS)
    yield store
    await store.close()


def tell(redis: TcpRedis, lines: tuple[str, ...]) -> None:
    for line in lines:
        redis.tell(*line.split(" "))


def is_unavailable(answer: Answer) -> bool:
    told = answer.refusal == (503, "temporarily_unavailable")
    return told and int(answer.headers["Retry-After"]) > 0


async def soon(ask: Callable[[], Awaitable[bool]]) -> None:
    """Until it is so."""
    async with asyncio.timeout(120):
        while not await ask():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)


async def assert_documents_are_answered(service: RunningService) -> None:
    for name in ("openid-configuration", "jwks.json"):
        assert (await service.get(f"/.well-known/{name}")).status == 200


async def assert_nothing_is_told_about_tokens(app: ClientApp, reference: str) -> None:
    service = app.service
    assert is_unavailable(await service.user_token("opaque"))
    assert is_unavailable(await service.introspect(reference))
    page = await app.authorize()
    assert page.url.startswith(app.redirect_uri + "?error=temporarily_unavailable")
    await assert_documents_are_answered(service)


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=list(TROUBLES))
async def test_commands_that_redis_refuses_are_a_503_and_others_succeed(
    app: ClientApp, redis: TcpRedis, trouble: Trouble
) -> None:
    service = app.service
    code, reference = await app.code(), (await service.user_token("opaque"))["access_token"]
    tell(redis, trouble.begins)
    assert is_unavailable(await app.redeem(code))
    if trouble.reads_go_on:
        assert await service.is_active(reference)
        assert not service.features.shared.kv.circuit_open
    else:
        assert is_unavailable(await service.introspect(reference))
    await assert_documents_are_answered(service)
    assert any("refused" in each for each in await degradations(service))
    tell(redis, trouble.ends)
    await soon(lambda: _works(service))
    assert (await app.redeem(code)).status == 200


async def test_reads_succeed_on_a_replica_that_refuses_writes(
    kv: KeyValue, redis: TcpRedis
) -> None:
    await kv.write(("SET", "ts:{x}:k", b"1", "EX", 60))
    tell(redis, TROUBLES["READONLY"].begins)
    for _ in range(3):
        both = [
            (kv.read(Read("ts:{x}:k", int)), kv.write(("SET", "ts:{x}:k", b"2", "EX", 60)))
            for _ in range(50)
        ]
        answers: list[Any] = await asyncio.gather(
            *[each for pair in both for each in pair], return_exceptions=True
        )
        assert answers[0::2] == [(1,)] * 50
        assert all(isinstance(each, StoreUnavailable) for each in answers[1::2])
        await asyncio.sleep(0.6)  # so that it is worth while to look for another master


async def test_the_reason_of_a_refusal_is_logged_once(kv: KeyValue, redis: TcpRedis) -> None:
    tell(redis, TROUBLES["READONLY"].begins)
    with capture_logs() as logged:
        for _ in range(3):
            assert await refused(kv, ("SET", "ts:{x}:k", b"1", "EX", 60))
            assert await kv.read(Read("ts:{x}:k", int)) == (None,)
    (line,) = (each for each in logged if each["event"] == "redis refuses")
    assert (line["log_level"], line["cause"].split()[0]) == ("warning", "READONLY")


async def test_each_new_reason_of_a_refusal_is_logged(kv: KeyValue, redis: TcpRedis) -> None:
    write = ("SET", "ts:{x}:k", b"1", "EX", 60)
    with capture_logs() as logged:
        for name in ("OOM", "NOREPLICAS", "OOM"):
            tell(redis, TROUBLES[name].begins)
            assert await refused(kv, write)
            tell(redis, TROUBLES[name].ends)
    causes = [each["cause"].split()[0] for each in logged if each["event"] == "redis refuses"]
    assert causes == ["OOM", "NOREPLICAS"]


async def test_the_logged_reason_of_a_refusal_has_no_values(kv: KeyValue) -> None:
    with capture_logs() as logged:
        assert await refused(kv, ("NOSUCH" + "X" * 300, "ts:{x}:k", b"a secret"))
    (line,) = logged
    assert line["cause"].startswith("ERR unknown command")
    assert "secret" not in line["cause"]
    assert len(line["cause"]) <= 200


async def refused(kv: KeyValue, command: tuple[Any, ...]) -> bool:
    try:
        await kv.write(command)
    except StoreUnavailable:
        return True
    return False


async def _works(service: RunningService) -> bool:
    return (await service.user_token("opaque")).status == 200


@pytest.mark.parametrize("how", ["killed", "frozen"])
async def test_requests_do_not_wait_for_a_silent_redis(
    app: ClientApp, redis: TcpRedis, how: str
) -> None:
    service = app.service
    reference = (await service.user_token("opaque"))["access_token"]
    (redis.kill if how == "killed" else redis.freeze)()
    assert is_unavailable(await service.introspect(reference))
    async with asyncio.timeout(10 * SECONDS):  # alone each would wait for SECONDS
        for _ in range(10):
            await assert_nothing_is_told_about_tokens(app, reference)
    await asyncio.to_thread(redis.start if how == "killed" else redis.thaw)
    await soon(lambda: _works(service))
    assert await service.is_active(reference)


async def test_a_redis_that_loads_its_data_is_not_taken_for_an_empty_one(
    app: ClientApp, redis: TcpRedis
) -> None:
    service = app.service
    code, reference = await app.code(), (await service.user_token("opaque"))["access_token"]
    redis.tell("BGREWRITEAOF")
    await soon(lambda: _rewrite(redis))
    redis.kill()
    slowly = ("--key-load-delay", "100000", "--loading-process-events-interval-bytes", "1024")
    redis.flags += slowly
    starting = asyncio.create_task(asyncio.to_thread(redis.start))
    answers: list[Answer] = []
    while not starting.done():
        answers.append(await service.introspect(reference))
        await asyncio.sleep(0.05)
    assert all(is_unavailable(each) or each.json["active"] for each in answers)
    assert any(is_unavailable(each) for each in answers)
    await soon(lambda: _works(service))
    assert (await app.redeem(code)).status == 200


async def _rewrite(redis: TcpRedis) -> bool:
    return b"aof_rewrite_in_progress:0" in redis.tell("INFO", "persistence")


async def test_a_cluster_that_lacks_slots_is_a_refusal_until_it_has_them(tmp_path: Path) -> None:
    with cluster(tmp_path, masters=1) as whole:
        kv = open_store(whole.url, timeout=SECONDS)
        await kv.write(("SET", "ts:{x}:k", b"1", "EX", 60))
        whole.masters[0].tell("CLUSTER", "DELSLOTS", 0)
        with pytest.raises(StoreUnavailable):
            await kv.read(Read("ts:{x}:k", int))
        assert not kv.circuit_open
        whole.masters[0].tell("CLUSTER", "ADDSLOTS", 0)
        await soon(lambda: _readable(kv))
        await kv.close()


async def test_slots_without_a_master_at_first_are_looked_up_again(tmp_path: Path) -> None:
    with cluster(tmp_path, masters=1) as whole:
        kv = open_store(whole.url, timeout=SECONDS)
        await kv.write(("SET", "ts:{x}:k", b"1", "EX", 60))
        await kv.close()
        whole.masters[0].tell("CLUSTER", "DELSLOTS", key_slot(b"x"))
        kv = open_store(whole.url, timeout=SECONDS)
        with pytest.raises(StoreUnavailable):
            await kv.read(Read("ts:{x}:k", int))
        whole.masters[0].tell("CLUSTER", "ADDSLOTS", key_slot(b"x"))
        await soon(lambda: _readable(kv))
        await kv.close()


async def _readable(kv: KeyValue) -> bool:
    try:
        return await kv.read(Read("ts:{x}:k", int)) == (1,)
    except StoreUnavailable:
        return False


async def test_service_stays_ready_and_is_degraded_while_redis_is_unavailable(
    service: RunningService, redis: TcpRedis
) -> None:
    redis.freeze()
    assert is_unavailable(await service.user_token("opaque"))
    (degraded,) = await degradations(service)
    assert degraded.startswith("store: has not answered for")
    redis.thaw()
    await soon(lambda: _works(service))
    assert await degradations(service) == []


async def degradations(service: RunningService) -> list[str]:
    """Return what a service that is ready says to be wrong."""
    ready = await service.get("/health/ready")
    assert (ready.status, ready["status"]) == (200, "ready")
    found: list[str] = ready.json.get("degraded", [])
    return found


@pytest.mark.parametrize("settings", [{"unready_after": "12s"}], ids=["unready_after"])
async def test_readiness_fails_when_the_trouble_has_lasted_as_long_as_configured(
    service: RunningService, redis: TcpRedis
) -> None:
    redis.freeze()
    assert is_unavailable(await service.user_token("opaque"))
    assert (await service.get("/health/ready")).status == 200
    await soon(lambda: _is_ready(service, 503))
    await assert_documents_are_answered(service)
    redis.thaw()
    await soon(lambda: _is_ready(service, 200))


async def _is_ready(service: RunningService, status: int) -> bool:
    return (await service.get("/health/ready")).status == status


async def test_requests_are_refused_at_once_while_redis_is_unavailable(
    kv: KeyValue, redis: TcpRedis
) -> None:
    await kv.ping()
    redis.freeze()
    with pytest.raises(StoreUnavailable):
        await kv.ping()
    assert kv.circuit_open
    async with asyncio.timeout(10 * SECONDS):  # and not 100 times
        for _ in range(100):
            with pytest.raises(StoreUnavailable):
                await kv.ping()
    redis.thaw()
    await soon(lambda: _is_closed(kv))
    await kv.ping()


async def _is_closed(kv: KeyValue) -> bool:
    return not kv.circuit_open
