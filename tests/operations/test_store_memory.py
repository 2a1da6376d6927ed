"""A store that is nearly full shows in readiness, metrics and the log before it refuses anything."""

from __future__ import annotations

import asyncio
import subprocess
from typing import Any

import pytest
from redis import Redis
from structlog.testing import capture_logs

from service.store.engine import engine
from service.store.memory import StoreMemory
from tests.driving.service import RunningService

pytestmark = pytest.mark.needs("redis-server")


@pytest.fixture(autouse=True)
def nobody_else_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests ask for each look; one from the background would be in their way."""

    async def follow(_: StoreMemory) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(StoreMemory, "follow", follow)


@pytest.fixture
def config(
    config: dict[str, Any], mortal_redis: tuple[str, subprocess.Popen[bytes]]
) -> dict[str, Any]:
    """A Redis of the test's own."""
    config["store"] = {"url": mortal_redis[0]}
    return config


async def look(
    service: RunningService, mortal_redis: Any, value: str, setting: str = "maxmemory"
) -> list[Any]:
    """Give Redis this limit, or another setting, and look at it; what was logged."""
    with Redis.from_url(mortal_redis[0]) as redis:
        redis.config_set(setting, value)
    with capture_logs() as logged:
        await service.features.shared.store_memory.refresh()
    return logged


async def gauges(service: RunningService) -> dict[str, float]:
    lines = (await service.get("/metrics")).body.decode().splitlines()
    found = [line.split(" ") for line in lines if line.startswith("token_service_store_memory")]
    return {name.removeprefix("token_service_store_memory_"): float(value) for name, value in found}


async def test_store_with_room_is_not_mentioned(service: RunningService, mortal_redis: Any) -> None:
    assert await look(service, mortal_redis, "1gb") == []
    assert "degraded" not in (await service.get("/health/ready")).json
    assert (await gauges(service))["limit_bytes"] == 2**30


async def test_a_store_that_is_nearly_full_is_degraded_and_ready(
    service: RunningService, mortal_redis: Any
) -> None:
    memory = await service.features.shared.kv.read_memory()
    assert memory is not None
    (warning,) = await look(service, mortal_redis, str(memory.used))
    assert (warning["log_level"], warning["event"]) == ("warning", "Redis is nearly full")
    ready = await service.get("/health/ready")
    assert (ready.status, ready["status"]) == (200, "ready")
    assert ready["degraded"][0].startswith("store: ")
    shown = await gauges(service)
    assert shown["bytes"] > 0.9 * shown["limit_bytes"]
    (relief,) = await look(service, mortal_redis, "1gb")
    assert relief["event"] == "Redis has room again"


async def test_a_store_without_a_limit_is_never_full(
    service: RunningService, mortal_redis: Any
) -> None:
    assert await look(service, mortal_redis, "0") == []
    assert (await gauges(service))["limit_bytes"] == 0


async def test_eviction_that_begins_later_is_warned_of_once_and_degrades(
    service: RunningService, mortal_redis: Any
) -> None:
    assert await look(service, mortal_redis, "noeviction", "maxmemory-policy") == []
    (warning,) = await look(service, mortal_redis, "allkeys-lru", "maxmemory-policy")
    assert (warning["log_level"], warning["maxmemory_policy"]) == ("warning", "allkeys-lru")
    assert await look(service, mortal_redis, "allkeys-lru", "maxmemory-policy") == []
    ready = await service.get("/health/ready")
    assert (ready.status, ready["status"]) == (200, "ready")
    assert ready["degraded"] == ["store: keys may be evicted (maxmemory-policy allkeys-lru)"]
    (relief,) = await look(service, mortal_redis, "noeviction", "maxmemory-policy")
    assert relief["event"] == "Redis evicts nothing any more"
    assert "degraded" not in (await service.get("/health/ready")).json


async def test_redis_user_without_info_permission_shows_no_memory(
    service: RunningService, mortal_redis: Any
) -> None:
    with Redis.from_url(mortal_redis[0]) as redis:
        redis.execute_command("ACL", "SETUSER", "default", "-info")
    assert await look(service, mortal_redis, "1mb") == []
    assert await gauges(service) == {}
    assert (await service.get("/health/ready")).json["status"] == "ready"


async def test_redis_that_omits_memory_shows_none(
    service: RunningService, mortal_redis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def info(*_: object) -> bytes:
        return b"# Memory\r\nmem_allocator:jemalloc\r\ntotal_system_memory:1\r\n"

    monkeypatch.setattr(engine, "_ask_one", info)
    assert await look(service, mortal_redis, "1mb") == []
    assert await gauges(service) == {}


@pytest.mark.usefixtures("mortal_redis")
async def test_the_log_and_metrics_know_no_memory_of_the_embedded_store(
    start: Any, config: dict[str, Any]
) -> None:
    service = await start(config | {"store": {"url": "memory://"}})
    await service.features.shared.store_memory.refresh()
    assert not service.features.shared.store_memory.is_nearly_full
