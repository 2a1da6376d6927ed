"""A code is consumed by the last write of a request, so that it can be used again after another master was away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis.crc import key_slot

from service.model.handle import digest, parse_handle
from tests.driving.client_app import ClientApp
from tests.driving.redis_servers import SLOTS, RedisCluster, TcpRedis, cluster

pytestmark = [pytest.mark.needs("redis-server"), pytest.mark.rfc("6749#4.1.2")]

ALICE = "818727"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RedisCluster]:
    """Three masters, two of which go on without the third."""
    with cluster(tmp_path, "--cluster-require-full-coverage", "no") as started:
        yield started


@pytest.fixture
def own_store(store: RedisCluster) -> str:
    return store.url


@pytest.fixture
def config(config: dict[str, Any], own_store: str) -> dict[str, Any]:
    config["store"] = {"url": own_store, "timeout": "1s"}
    return config


async def test_code_can_be_redeemed_after_the_master_of_an_index_was_unavailable(
    app: ClientApp, store: RedisCluster
) -> None:
    index = app.service.features.shared.stores.subject_authorizations.key(digest(ALICE))
    away = master_of(store, index)
    code = await app.code()
    while master_of(store, f"{{{selector_of(code)}}}") is away:
        code = await app.code()
    away.kill()
    assert (await app.redeem(code)).refusal == (503, "temporarily_unavailable")
    away.start()  # it says CLUSTERDOWN at first
    while (answer := await app.redeem(code)).status == 503:
        pass
    assert answer.status == 200


def master_of(store: RedisCluster, key: str) -> TcpRedis:
    return store.masters[key_slot(key.encode()) * len(store.masters) // SLOTS]


def selector_of(code: str) -> str:
    handle = parse_handle(code, "authorization_code")
    assert handle is not None
    return handle.selector
