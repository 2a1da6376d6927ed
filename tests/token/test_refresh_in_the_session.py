"""Refresh tokens that come without offline_access, and end with the user's session (OIDC Core §11, RFC 6749 §6)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("openid-core#11", "6749#6")

SCOPE = "openid api1"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The clients refresh without the scope; sessions are short."""
    for name in ("web", "frontend"):
        client_in(config, name)["refresh_without_offline_access"] = True
    config["session"] = {"lifetime": "10m", "max_lifetime": "2h"}
    return config


async def refresh(app: ClientApp, token: str) -> Answer:
    """Use a refresh token."""
    return await app.service.token(app.client_id, grant_type="refresh_token", refresh_token=token)


async def test_a_sign_in_brings_a_refresh_token_without_offline_access(app: ClientApp) -> None:
    tokens = await app.tokens(scope=SCOPE)
    assert tokens["scope"] == "api1 openid"
    refreshed = await refresh(app, tokens["refresh_token"])
    assert (refreshed.status, refreshed["scope"]) == (200, "api1 openid")
    assert await app.service.is_active(refreshed["access_token"])


async def test_such_a_refresh_token_rotates_and_a_used_one_ends_its_family(app: ClientApp) -> None:
    first = (await app.tokens(scope=SCOPE))["refresh_token"]
    second = (await refresh(app, first))["refresh_token"]
    assert second != first
    assert (await refresh(app, first)).refusal == (400, "invalid_grant")
    assert (await refresh(app, second)).refusal == (400, "invalid_grant")


async def test_a_logout_ends_the_refresh_token_of_the_session(app: ClientApp) -> None:
    tokens = await app.tokens(scope=SCOPE)
    await app.browser.get(f"/connect/endsession?id_token_hint={tokens['id_token']}")
    assert (await refresh(app, tokens["refresh_token"])).refusal == (400, "invalid_grant")


async def test_an_idle_session_ends_the_refresh_token(app: ClientApp, clock: Clock) -> None:
    token = (await app.tokens(scope=SCOPE))["refresh_token"]
    clock.forward(minutes=11)
    assert (await refresh(app, token)).refusal == (400, "invalid_grant")
    introspected = await app.service.introspect(token, caller="web")
    assert introspected.json == {"active": False}


async def test_each_refresh_counts_as_a_use_of_the_session(app: ClientApp, clock: Clock) -> None:
    token = (await app.tokens(scope=SCOPE))["refresh_token"]
    for _ in range(3):
        clock.forward(minutes=8)
        token = (await refresh(app, token))["refresh_token"]
    page = await app.authorize(prompt="none")
    assert "code" in page.parameters


async def test_the_absolute_end_of_the_session_ends_the_refresh_token(
    app: ClientApp, clock: Clock
) -> None:
    token = (await app.tokens(scope=SCOPE))["refresh_token"]
    for _ in range(14):
        clock.forward(minutes=8)
        token = (await refresh(app, token))["refresh_token"]
    clock.forward(minutes=9)
    assert (await refresh(app, token)).refusal == (400, "invalid_grant")


async def test_offline_access_outlives_the_session_as_ever(app: ClientApp, clock: Clock) -> None:
    token = (await app.tokens(scope=f"{SCOPE} offline_access"))["refresh_token"]
    clock.forward(hours=3)
    assert (await refresh(app, token)).status == 200


async def test_the_password_grant_brings_one_that_ends_at_its_lifetime(
    service: RunningService, clock: Clock
) -> None:
    token = (await service.user_token())["refresh_token"]
    clock.forward(hours=3)
    form = {"grant_type": "refresh_token", "refresh_token": token}
    assert (await service.token("frontend", **form)).status == 200
    clock.forward(days=31)
    again = (await service.token("frontend", **form)).refusal
    assert again == (400, "invalid_grant")


async def test_a_withdrawn_key_refuses_the_refresh_token(
    app: ClientApp, service: RunningService, config: dict[str, Any]
) -> None:
    token = (await app.tokens(scope=SCOPE))["refresh_token"]
    del client_in(config, "web")["refresh_without_offline_access"]
    service.reload(config)
    assert (await refresh(app, token)).refusal == (400, "invalid_grant")
    assert "refresh_token" not in (await app.tokens(scope=SCOPE)).json


async def test_introspection_says_no_end_of_a_refresh_token_of_a_session(app: ClientApp) -> None:
    token = (await app.tokens(scope=SCOPE))["refresh_token"]
    introspected = await app.service.introspect(token, caller="web")
    assert (introspected["active"], introspected["client_id"]) == (True, "web")
    assert "exp" not in introspected.json


async def test_a_revoked_refresh_token_ends_with_its_access_token(app: ClientApp) -> None:
    tokens = await app.tokens(scope=SCOPE)
    await app.service.post("/connect/revocation", auth="web", token=tokens["refresh_token"])
    assert (await refresh(app, tokens["refresh_token"])).refusal == (400, "invalid_grant")
    assert not await app.service.is_active(tokens["access_token"])


async def test_libraries_that_decode_refresh_tokens_as_jwts_find_an_object(app: ClientApp) -> None:
    first = (await app.tokens(scope=SCOPE))["refresh_token"]
    for token in (first, (await refresh(app, first))["refresh_token"]):
        _, payload = token.split(".")  # as keycloak-js does
        decoded = urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        assert json.loads(decoded) == {"typ": "Refresh"}


async def test_the_part_for_decoders_may_be_left_out_but_not_be_another(app: ClientApp) -> None:
    first = (await app.tokens(scope=SCOPE))["refresh_token"]
    handle = first.partition(".")[0]
    assert (await refresh(app, f"{handle}.e30")).refusal == (400, "invalid_grant")
    assert (await refresh(app, handle)).status == 200
