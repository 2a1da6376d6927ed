"""Parked requests are limited for each network (RFC 6585 §4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.authorize.test_parking import count_stored_bytes
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService

pytestmark = [pytest.mark.rfc("6585#4"), pytest.mark.usefixtures("fresh_minute")]

LOGOUT = "/connect/endsession"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Three requests of a network may wait, which the proxy on loopback names."""
    config["limits"] = {"parked_requests_per_minute": 3}
    config["server"] = {"trusted_proxies": ["127.0.0.0/8"]}
    provider = {"issuer": "http://127.0.0.1:1", "client_id": "us", "client_secret": "x"}
    config["identity_providers"] = [{"name": "provider", **provider}]
    return config


async def send(app: ClientApp, address: str = "192.0.2.7", **changes: str | None) -> Answer:
    """An authorization request of a stranger at this address."""
    path = app.url(**changes).removeprefix(app.service.issuer)
    return await app.service.get(path, headers={"X-Forwarded-For": address})


async def test_a_network_that_begins_too_many_sign_ins_is_shown_a_page(app: ClientApp) -> None:
    assert [(await send(app)).status for _ in range(3)] == [303] * 3
    kept = await count_stored_bytes(app.service)
    refused = await send(app)
    assert refused.status == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert b'id="error">temporarily_unavailable<' in refused.body
    assert await count_stored_bytes(app.service) == kept


async def test_other_networks_are_not_limited(app: ClientApp) -> None:
    *_, last = [await send(app, f"2001:db8:0:1::{host}") for host in range(4)]
    assert last.status == 429
    assert (await send(app, "2001:db8:0:2::1")).status == 303


@pytest.mark.rfc("6177#2")
async def test_networks_of_one_ipv6_site_have_the_limit_of_four(app: ClientApp) -> None:
    sites = [f"2001:db8:7:{network:x}::1" for network in range(13)]
    answers = [await send(app, address) for address in sites]
    assert [answer.status for answer in answers] == [303] * 12 + [429]
    assert (await send(app, "2001:db8:8::1")).status == 303


async def test_a_long_request_counts_as_several(app: ClientApp) -> None:
    assert (await send(app, state="s" * 2_000)).status == 303
    assert (await send(app)).status == 429


async def test_logouts_and_requests_by_post_are_counted_with_them(service: RunningService) -> None:
    app, sent = ClientApp(service, browser=None), {"X-Forwarded-For": "192.0.2.7"}  # type: ignore[arg-type]
    form = app.parameters()
    paths = ("/connect/authorize", LOGOUT)
    answers = [await service.post(paths[n % 2], headers=sent, **form) for n in range(4)]
    assert [answer.status for answer in answers] == [303, 303, 303, 429]


async def test_a_request_that_needs_no_page_is_not_counted(app: ClientApp) -> None:
    await app.login()
    for _ in range(4):
        assert "code" in (await app.authorize()).parameters
