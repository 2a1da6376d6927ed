"""Pages of a registered client's origin may read tokens (Fetch §3.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.driving.registering import RegisteredApp, register
from tests.driving.service import RunningService

Registering = Callable[..., Awaitable[RegisteredApp]]
ORIGIN = "https://registered.example"
PATHS = ["/connect/token", "/connect/userinfo", "/connect/revocation"]


async def allowed(service: RunningService, origin: str, path: str = PATHS[0]) -> bool:
    """Whether a preflight and an answer name the origin; both or none."""
    asking = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    asked = await service.request("OPTIONS", path, headers=asking)
    answer = await service.post(path, headers={"Origin": origin})
    told = {each.headers.get("Access-Control-Allow-Origin") for each in (asked, answer)}
    assert len(told) == 1
    assert "Origin" in answer.headers.getall("Vary")
    return told == {origin}


@pytest.mark.parametrize("path", PATHS)
async def test_an_origin_may_call_once_a_client_has_registered_it(
    registering: Registering, service: RunningService, path: str
) -> None:
    assert not await allowed(service, ORIGIN, path)
    await registering()
    assert await allowed(service, ORIGIN, path)
    assert not await allowed(service, "https://stranger.example", path)


async def test_an_origin_may_not_call_after_its_last_client_is_deleted(
    registering: Registering, service: RunningService
) -> None:
    one, other = await registering(), await registering()
    await one.manage("DELETE")
    assert await allowed(service, ORIGIN)
    await other.change(redirect_uris=["https://moved.example/cb"])
    assert not await allowed(service, ORIGIN)
    assert await allowed(service, "https://moved.example")


@pytest.mark.parametrize("origin", ["null", "", "https://[", "https://a:99999", "ä", "x" * 5000])
async def test_an_invalid_origin_may_not_call(service: RunningService, origin: str) -> None:
    await register(service)
    answer = await service.post("/connect/token", headers={"Origin": origin})
    assert answer.status == 401
    assert "Access-Control-Allow-Origin" not in answer.headers


async def test_origins_of_configured_clients_cost_no_look_up(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the store was asked")

    monkeypatch.setattr(type(service.features.origins), "includes", fail)
    assert await allowed(service, "https://spa.example")


class TestWithALifetime:
    """Origins end with their clients."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["registration"]["client_lifetime"] = "1h"
        return config

    async def test_an_origin_expires_with_its_client(
        self, registering: Registering, service: RunningService, clock: Any
    ) -> None:
        await registering()
        assert await allowed(service, ORIGIN)
        clock.forward(hours=1, seconds=1)
        assert not await allowed(service, ORIGIN)
