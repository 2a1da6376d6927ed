"""Each kind of store that the one URL may name, started when a test first needs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from service.store.keyvalue import KeyValue
from service.store.opening import open_store
from tests.driving.redis_servers import (
    RedisCluster,
    RedisServer,
    TcpRedis,
    cluster,
    sentinel_set,
    tls_redis,
)
from tests.store.kinds.documented import acl_rules


@contextmanager
def unix_socket(folder: Path) -> Iterator[RedisServer]:
    """One server, without a port."""
    server = RedisServer(folder)
    server.start()
    yield server
    server.stop()


Started = AbstractContextManager[Any]

KINDS: dict[str, Callable[[Path], Started]] = {
    "TCP": TcpRedis,
    "unix socket": unix_socket,
    "TLS and ACL user": lambda folder: tls_redis(folder, acl=acl_rules()),
    "Sentinel": sentinel_set,
    "Cluster": cluster,
}


@pytest.fixture(scope="session", params=KINDS)
def own_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The URL of a store of this kind."""
    with KINDS[request.param](tmp_path_factory.mktemp("kind")) as started:
        yield started.url


@pytest.fixture(scope="session")
def three_masters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    """A Cluster that nobody harms."""
    with cluster(tmp_path_factory.mktemp("three-masters")) as started:
        yield started


@pytest.fixture
async def kv(own_store: str) -> AsyncIterator[KeyValue]:
    """The store itself."""
    store = open_store(own_store, timeout=30)
    yield store
    await store.close()
