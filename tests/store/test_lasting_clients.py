"""Clients that registered themselves without a lifetime: besides the keys the only record that never expires."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from redis import Redis

from service.model.client_metadata import selector_of
from tests.driving.browser import Browser
from tests.driving.registering import RegisteredApp
from tests.driving.service import RunningService
from tests.store.watched_redis import kind_of

pytestmark = pytest.mark.needs("redis-server")

YEAR = 365 * 24 * 3600
TOKEN = "an-initial-access-token"


@pytest.fixture
def config(config: dict[str, Any], mortal_redis: tuple[str, Any]) -> dict[str, Any]:
    config["store"] = {"url": mortal_redis[0]}
    allowed = {"initial_access_token_sha256": [sha256(TOKEN.encode()).hexdigest()]}
    config["registration"] = {"enabled": True, "allowed_scopes": ["api1"], **allowed}
    return config


async def test_clients_without_a_lifetime_stay_until_they_are_deleted(
    service: RunningService, browser: Browser, mortal_redis: tuple[str, Any]
) -> None:
    app = await RegisteredApp.register(service, browser, token=TOKEN)
    with Redis.from_url(mortal_redis[0]) as redis:
        record = service.features.shared.stores.registered_clients.key(
            str(selector_of(app.client_id))
        )
        assert redis.ttl(record) == -1
        (origin,) = redis.scan_iter("ts:*:ro")
        assert redis.ttl(origin) > 1000 * YEAR
        await app.manage("DELETE")
        left = {kind_of(key.decode()) for key in redis.scan_iter("ts:*")}
        assert left == {"keys"}
