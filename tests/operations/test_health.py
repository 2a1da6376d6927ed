"""Liveness says that the process answers; readiness, that it may get requests, and why not."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.driving.program import eventually
from tests.driving.redis_servers import RedisServer
from tests.driving.service import RunningService
from tests.operations.conftest import Serve


async def test_a_service_is_alive_and_ready(service: RunningService) -> None:
    assert (await service.get("/health/live")).json == {"status": "live"}
    generation = service.features.shared.registry.current.generation
    ready = {"status": "ready", "registry": generation}
    assert (await service.get("/health/ready")).json == ready


async def test_service_without_a_key_is_not_ready_and_names_the_reason(
    service: RunningService,
) -> None:
    service.features.ring.replace(in_use=(), held=(), since={})
    answer = await service.get("/health/ready")
    assert answer.status == 503
    assert answer["reasons"] == ["keys: none to sign with ES256"]
    assert answer["registry"] == service.features.shared.registry.current.generation
    assert (await service.get("/health/live")).status == 200


@pytest.mark.needs("redis-server")
def test_readiness_turns_red_when_the_store_is_unavailable_for_the_configured_time(
    serve: Serve, on_redis: RedisServer, config_file: Path
) -> None:
    config_file.write_text(f"{config_file.read_text()}  unready_after: 4s\n")
    on_redis.start()
    url = serve().url()
    on_redis.stop()
    assert httpx2.get(f"{url}/health/ready").status_code == 200  # all replicas share the store
    eventually(lambda: httpx2.get(f"{url}/health/ready").status_code == 503)
    ready = httpx2.get(f"{url}/health/ready")
    assert (ready.status_code, ready.json()["status"]) == (503, "unready")
    assert ready.json()["reasons"][0].startswith("store: has not answered for")
    assert httpx2.get(f"{url}/.well-known/jwks.json").json()["keys"]
    on_redis.start()
    eventually(lambda: httpx2.get(f"{url}/health/ready").status_code == 200)
