"""A permission that the operator withdraws counts from the next request on, for what was issued before, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("6749#6", "6749#4.1.3", "7662#2.2")

OFFLINE = "openid profile api1 api1.read offline_access"
Change = Callable[..., None]


@pytest.fixture
def change(service: RunningService, config: dict[str, Any]) -> Change:
    """Change a client's registration and put it in force."""

    def change_client(client_id: str, **changes: Any) -> None:
        client_in(config, client_id).update(changes)
        service.reload(config)

    return change_client


async def refresh(service: RunningService, token: str, **form: str) -> Answer:
    """Use a refresh token of the client `frontend`."""
    form = {"grant_type": "refresh_token", "refresh_token": token} | form
    return await service.token("frontend", **form)


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"allow_offline_access": False}, (400, "invalid_grant")),
        ({"allowed_grant_types": ["refresh_token"]}, (400, "invalid_grant")),
        ({"allowed_grant_types": ["password"]}, (400, "unauthorized_client")),
        ({"allowed_scopes": ["api2", "email"]}, (400, "invalid_grant")),
        ({"allowed_scopes": []}, (400, "invalid_grant")),
    ],
)
async def test_a_refresh_token_ends_with_what_it_needs(
    service: RunningService, change: Change, changes: Any, refusal: tuple[int, str]
) -> None:
    token = (await service.user_token(scope=OFFLINE))["refresh_token"]
    change("frontend", **changes)
    assert (await refresh(service, token)).refusal == refusal
    assert (await service.introspect(token, caller="frontend")).json == {"active": False}


async def test_a_refused_refresh_token_works_when_the_permission_is_back(
    service: RunningService, change: Change
) -> None:
    token = (await service.user_token(scope=OFFLINE))["refresh_token"]
    change("frontend", allow_offline_access=False)
    assert (await refresh(service, token)).refusal == (400, "invalid_grant")
    change("frontend", allow_offline_access=True)
    assert (await refresh(service, token)).status == 200


async def test_a_refresh_token_is_narrowed_to_the_scope_that_is_left(
    service: RunningService, change: Change
) -> None:
    token = (await service.user_token(scope=OFFLINE))["refresh_token"]
    change("frontend", allowed_scopes=["openid", "api1"])
    told = (await service.introspect(token, caller="frontend"))["scope"]
    answer = await refresh(service, token)
    assert set(answer["scope"].split()) == {"openid", "api1", "offline_access"}
    assert told == answer["scope"]
    refused = await refresh(service, answer["refresh_token"], scope="profile")
    assert refused.refusal == (400, "invalid_scope")


async def test_a_code_is_refused_when_its_redirect_uri_was_withdrawn(
    app: ClientApp, change: Change
) -> None:
    code = await app.code()
    change("web", redirect_uris=["https://web.example/other"])
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")
    change("web", redirect_uris=[app.redirect_uri])
    assert (await app.redeem(code)).status == 200


async def test_a_code_for_a_loopback_port_is_redeemed(
    app_of: Callable[[str], ClientApp], change: Change
) -> None:
    app, uri = app_of("native"), "http://127.0.0.1:54321/callback"
    code = await app.code(redirect_uri=uri)
    assert (await app.redeem(code, redirect_uri=uri)).status == 200
    code = await app.code(redirect_uri=uri)
    change("native", redirect_uris=["http://127.0.0.1:1/other"])
    refused = await app.redeem(code, redirect_uri=uri)
    assert refused.refusal == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"allowed_scopes": ["email"]}, (400, "invalid_grant")),
        ({"allowed_grant_types": ["refresh_token"]}, (400, "unauthorized_client")),
    ],
)
async def test_a_code_is_refused_when_what_it_needs_was_withdrawn(
    app: ClientApp, change: Change, changes: Any, refusal: tuple[int, str]
) -> None:
    code = await app.code()
    change("web", **changes)
    assert (await app.redeem(code)).refusal == refusal


async def test_a_code_is_narrowed_to_the_scope_that_is_left(app: ClientApp, change: Change) -> None:
    code = await app.code(scope="openid profile api1 offline_access")
    change("web", allowed_scopes=["api1"], allow_offline_access=False)
    answer = await app.redeem(code)
    assert answer["scope"] == "api1"
    assert answer.json.keys().isdisjoint({"id_token", "refresh_token"})


@pytest.mark.parametrize("client", ["frontend", "opaque"])
@pytest.mark.parametrize(
    "changes",
    [
        {"allowed_grant_types": ["refresh_token"]},
        {"allowed_scopes": ["api2", "email"]},
        {"enabled": False},
    ],
)
async def test_an_access_token_is_inactive_when_what_it_needs_was_withdrawn(
    service: RunningService, change: Change, client: str, changes: Any
) -> None:
    token = (await service.user_token(client, "openid api1"))["access_token"]
    change(client, **changes)
    assert (await service.introspect(token)).json == {"active": False}
    assert (await service.introspect(token, caller=client)).status in {200, 401}


@pytest.mark.parametrize("client", ["machine", "robot"])
@pytest.mark.parametrize(
    "changes", [{"allowed_grant_types": ["delegation"]}, {"allowed_scopes": ["api2"]}]
)
async def test_a_clients_own_token_is_inactive_when_what_it_needs_was_withdrawn(
    service: RunningService, change: Change, client: str, changes: Any
) -> None:
    token = (await service.token(client, grant_type="client_credentials", scope="api1"))[
        "access_token"
    ]
    change(client, **changes)
    assert not await service.is_active(token)


@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_introspection_shows_the_scope_that_is_left(
    service: RunningService, change: Change, client: str
) -> None:
    token = (await service.user_token(client, "openid profile api1 api2"))["access_token"]
    change(client, allowed_scopes=["openid", "api1"])
    assert (await service.introspect(token))["scope"] == "api1"
    assert (await service.introspect(token, caller=client))["scope"] == "api1 openid"
    assert not await service.is_active(token, caller="api2")


async def test_userinfo_tells_only_of_the_scope_that_is_left(
    app: ClientApp, change: Change
) -> None:
    token = (await app.tokens(scope="openid profile email"))["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    change("web", allowed_scopes=["openid", "email"])
    told = (await app.service.get("/connect/userinfo", headers=headers)).json
    assert ("email" in told, "name" in told) == (True, False)
    change("web", allowed_scopes=["email"])
    assert (await app.service.get("/connect/userinfo", headers=headers)).status == 403


async def test_a_withdrawn_scope_cannot_be_delegated_from(
    service: RunningService, change: Change
) -> None:
    token = (await service.user_token(scope="api1"))["access_token"]
    change("frontend", allowed_scopes=["api2"])
    answer = await service.token("api1", grant_type="delegation", token=token, scope="api2")
    assert answer.refusal == (400, "invalid_grant")


async def test_a_delegated_token_ends_with_the_permission_to_delegate(
    service: RunningService, change: Change
) -> None:
    token = (await service.user_token(scope="api1"))["access_token"]
    answer = await service.token("api1", grant_type="delegation", token=token, scope="api2")
    assert await service.is_active(answer["access_token"], caller="api2")
    change("api1", allowed_grant_types=["client_credentials"])
    assert not await service.is_active(answer["access_token"], caller="api2")


async def test_a_front_channel_token_ends_with_the_implicit_grant(
    service: RunningService, app_of: Callable[[str], ClientApp], change: Change
) -> None:
    page = await app_of("implicit").login(response_type="token", scope="api1")
    token = page.parameters["access_token"]
    assert await service.is_active(token)
    change("implicit", allowed_grant_types=["authorization_code"])
    assert not await service.is_active(token)


async def test_a_code_that_was_redeemed_refreshes_only_while_codes_are_allowed(
    app: ClientApp, change: Change
) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    change("web", allowed_grant_types=["refresh_token"], redirect_uris=[])
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")
    assert not await app.service.is_active(tokens["access_token"])


async def test_a_local_sign_in_ends_with_the_permission_to_sign_in_locally(
    app: ClientApp, config: dict[str, Any], change: Change
) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    config["identity_providers"] = [
        {"name": "other", "issuer": "https://other.example", "client_id": "x"}
    ]
    change("web", enable_local_login=False)
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")
    assert not await app.service.is_active(tokens["access_token"])


async def test_the_password_grant_is_another_permission_than_local_sign_in(
    service: RunningService, config: dict[str, Any], change: Change
) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    config["identity_providers"] = [
        {"name": "other", "issuer": "https://other.example", "client_id": "x"}
    ]
    change("frontend", enable_local_login=False)
    assert (await refresh(service, tokens["refresh_token"])).status == 200
