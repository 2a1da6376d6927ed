"""The configuration of replicas behind a proxy, and the Redis that they share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ENCRYPTION_KEY
from tests.driving.redis_servers import RedisServer
from tests.driving.registry import fresh_configuration


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def whole(redis: RedisServer) -> dict[str, Any]:
    """As docs/proxies.md says."""
    whole: dict[str, Any] = fresh_configuration()
    whole["store"] = {"url": redis.url}
    whole["signing"]["encryption_key"] = ENCRYPTION_KEY
    whole["server"] = {
        "trusted_proxies": ["127.0.0.1"],
        "forwarded_header": "X-Forwarded-For",
        "shutdown_grace": "20s",
        "shutdown_linger": "4s",
    }
    return whole
