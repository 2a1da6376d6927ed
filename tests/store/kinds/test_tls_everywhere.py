"""Sentinels, masters, replicas and the servers of a Cluster may all speak TLS alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.store.keyvalue import StoreUnavailable
from service.store.opening import open_store
from service.store.verbs import Read
from tests.driving.redis_servers import cluster, sentinel_set

pytestmark = pytest.mark.needs("redis-server")


@pytest.mark.parametrize("kind", [sentinel_set, cluster], ids=["Sentinel", "Cluster"])
async def test_every_connection_uses_tls(
    kind: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "service.store.engine.cluster.PATIENCE", 30
    )  # a busy machine shakes hands slowly
    monkeypatch.setattr("service.store.opening.SENTINEL_SECONDS", 30)
    with kind(tmp_path, replicas=1, tls=True) as started:
        kv = open_store(started.url, timeout=30, wait_for_replicas=1)
        await kv.write(("SET", "ts:{x}:k", b"1", "EX", 60), durable=True)
        assert await kv.read(Read("ts:{x}:k", int)) == (1,)
        assert [key async for key in kv.find_keys("ts:*")] == ["ts:{x}:k"]
        assert await kv.replace("ts:lasting", old=None, new=b"1")
        await kv.close()
        stranger = open_store(started.url.partition("?")[0], timeout=2)
        with pytest.raises(StoreUnavailable):  # it does not trust the authority
            await stranger.ping()
        await stranger.close()
