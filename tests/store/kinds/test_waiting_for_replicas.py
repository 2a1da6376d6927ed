"""Single uses are answered when as many replicas have them as the configuration says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from service.store import verbs
from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.opening import open_store
from service.store.verbs import Read
from tests.driving.client_app import ClientApp
from tests.driving.program import eventually
from tests.driving.redis_servers import (
    RedisCluster,
    SentinelSet,
    cluster,
    is_connected,
    sentinel_set,
)
from tests.driving.registry import client_in

pytestmark = pytest.mark.needs("redis-server")


@pytest.fixture(scope="module", params=["Sentinel", "Cluster"])
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SentinelSet | RedisCluster]:
    """With one replica for each master."""
    folder = tmp_path_factory.mktemp("replicated")
    if request.param == "Sentinel":
        with sentinel_set(folder) as started:
            yield started
    else:
        with cluster(folder, replicas=1) as whole:
            yield whole


@pytest.fixture
def own_store(store: SentinelSet | RedisCluster) -> str:
    return store.url


@pytest.fixture
def config(config: dict[str, Any], own_store: str) -> dict[str, Any]:
    config["store"] = {"url": own_store, "timeout": "6s", "wait_for_replicas": 1}
    client_in(config, "spa")["refresh_token_reuse_interval"] = "30s"
    return config


@pytest.fixture
async def kv(own_store: str) -> AsyncIterator[KeyValue]:
    """The store itself, which waits so long that a busy machine is through with many writes."""
    opened = open_store(own_store, timeout=6, wait_for_replicas=1)
    await opened.write(("SET", "ts:{x}:k", b"0", "EX", 60), durable=True)
    yield opened
    await opened.close()


@contextmanager
def frozen(store: SentinelSet | RedisCluster) -> Iterator[None]:
    """They keep their connections, and confirm nothing."""
    replicas = store.replicas
    for replica in replicas:
        replica.freeze()
    try:
        yield
    finally:
        for replica in replicas:
            replica.thaw()
            eventually(partial(is_connected, replica))


async def test_flows_go_on_as_ever(app: ClientApp) -> None:
    code = await app.code(scope="openid api1 offline_access")
    tokens = await app.redeem(code)
    tokens = await app.refresh(tokens["refresh_token"])
    assert tokens.status == 200
    answers = await asyncio.gather(*[app.refresh(tokens["refresh_token"]) for _ in range(20)])
    assert len([answer for answer in answers if answer.status == 200]) == 1


async def test_writes_at_the_same_time_are_confirmed_together(kv: KeyValue) -> None:
    counts = await asyncio.gather(
        *[kv.write(verbs.count("ts:{x}:n", 60), durable=True) for _ in range(1000)]
    )
    assert sorted(count for (count,) in counts) == list(range(1, 1001))


async def test_only_durable_writes_wait_for_replicas(
    kv: KeyValue, store: SentinelSet | RedisCluster
) -> None:
    assert await kv.read(Read("ts:{x}:k", int)) == (0,)
    with frozen(store):
        durable = asyncio.ensure_future(kv.write(("SET", "ts:{x}:k", b"1", "EX", 60), durable=True))
        while await kv.read(Read("ts:{x}:k", int)) != (1,):  # noqa: ASYNC110 - it is no event
            await asyncio.sleep(0.01)
        assert not durable.done()
        with pytest.raises(StoreUnavailable):
            await durable
    assert not kv.circuit_open
    await kv.write(("SET", "ts:{x}:k", b"1", "EX", 60), durable=True)


async def test_a_lost_connection_is_opened_again(
    kv: KeyValue, store: SentinelSet | RedisCluster
) -> None:
    await kv.write(("SET", "ts:{x}:k", b"1", "EX", 60), durable=True)
    for master in [store.master] if isinstance(store, SentinelSet) else store.masters:
        master.tell("CLIENT", "KILL", "TYPE", "normal")
    await kv.write(("SET", "ts:{x}:k", b"2", "EX", 60), durable=True)
    assert await kv.read(Read("ts:{x}:k", int)) == (2,)


async def test_one_refused_write_fails_no_other_write(kv: KeyValue) -> None:
    await kv.write(("SET", "ts:{x}:text", b"x", "EX", 60))
    results: list[object] = await asyncio.gather(
        kv.write(verbs.count("ts:{x}:text", 60), durable=True),
        kv.write(("SET", "ts:{x}:k", b"2", "EX", 60), durable=True),
        return_exceptions=True,
    )
    assert isinstance(results[0], StoreUnavailable)
    assert not isinstance(results[1], BaseException)


async def test_repeated_refresh_that_was_not_confirmed_gets_the_same_successor(
    app_of: Callable[[str], ClientApp], store: SentinelSet | RedisCluster
) -> None:
    app = app_of("spa")
    token = (await app.tokens(scope="openid api1 offline_access"))["refresh_token"]
    with frozen(store):
        refused = await app.refresh(token)
        assert refused.refusal == (503, "temporarily_unavailable")
    first, again = await app.refresh(token), await app.refresh(token)
    assert first["refresh_token"] == again["refresh_token"]
    assert (await app.refresh(first["refresh_token"])).status == 200


@pytest.mark.parametrize("store", ["Sentinel"], indirect=True)
async def test_code_whose_use_was_not_confirmed_is_consumed(
    app: ClientApp, store: SentinelSet
) -> None:
    """In a Cluster it is not even used where another master cannot have its index confirmed."""
    code = await app.code()
    with frozen(store):
        assert (await app.redeem(code)).refusal == (503, "temporarily_unavailable")
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")
