"""Tokens for the admin API come by client_credentials and by codes alone; what is there is nowhere else (RFC 8693 §5, RFC 9068 §4)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import quote

import pytest

from service.protocol.paths import BACKCHANNEL_AUTHENTICATION, DEVICE_AUTHORIZATION
from service.protocol.token_types import GRANT_TYPE as EXCHANGE
from service.protocol.token_types import JWT_BEARER
from tests.admin.conftest import ALICE, operator, token_of
from tests.driving.client_app import REDIRECT_URIS, ClientApp
from tests.driving.registering import register
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService
from tests.jwt_bearer.foreign import Partner, partner_entry
from tests.taken_over.conftest import at, old_key, write_jwks

pytestmark = [pytest.mark.rfc("8693#5", "9068#4"), pytest.mark.usefixtures("one_store")]

DEVICE, CIBA = "urn:ietf:params:oauth:grant-type:device_code", "urn:openid:params:grant-type:ciba"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
ADMIN = "admin.write"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A client with every grant type, which lists the scopes; its users may operate the service."""
    grants = ["password", "delegation", EXCHANGE, JWT_BEARER, DEVICE, CIBA, "implicit"]
    grants += ["authorization_code", "refresh_token"]
    config["clients"].append(
        operator(
            "desk2",
            *("openid", "admin.read", ADMIN, "api1"),
            allowed_grant_types=grants,
            allow_offline_access=True,
            allow_access_tokens_via_browser=True,
            require_pkce=False,
            redirect_uris=["https://desk2.example/callback"],
        )
    )
    config["trusted_issuers"] = [partner_entry()]
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
    config["token_exchange"] = [
        {
            "clients": ["desk2"],
            "subject_audience": ["api1"],
            "scopes": ["api1"],
            "audiences": ["api1"],
        }
    ]
    config["server"] = {"trusted_proxies": ["127.0.0.0/8"]}
    return config


@pytest.fixture
def desk(service: RunningService, browser: Any, monkeypatch: pytest.MonkeyPatch) -> ClientApp:
    """That client."""
    monkeypatch.setitem(REDIRECT_URIS, "desk2", "https://desk2.example/callback")
    return ClientApp(service, browser, "desk2")


async def by_password(desk: ClientApp) -> Answer:
    return await desk.service.user_token("desk2", ADMIN)


async def by_assertion(desk: ClientApp) -> Answer:
    assertion = await Partner(desk.service).assertion()
    form = {"grant_type": JWT_BEARER, "assertion": assertion, "scope": ADMIN}
    return await desk.service.token("desk2", **form)


async def by_delegation(desk: ClientApp) -> Answer:
    token = (await desk.tokens(scope=f"openid {ADMIN}"))["access_token"]
    return await desk.service.token("desk2", grant_type="delegation", token=token, scope=ADMIN)


async def by_exchange(desk: ClientApp) -> Answer:
    token = (await desk.tokens(scope="openid api1"))["access_token"]
    return await _exchange(desk, token, scope=ADMIN)


async def by_exchange_of_an_admin_token(desk: ClientApp) -> Answer:
    token = (await desk.tokens(scope=f"openid {ADMIN}"))["access_token"]
    return await _exchange(desk, token, scope="api1")


async def by_exchange_for_the_url(desk: ClientApp) -> Answer:
    token = (await desk.tokens(scope="openid api1"))["access_token"]
    return await _exchange(desk, token, resource=str(desk.service.admin_url))


async def _exchange(desk: ClientApp, token: str, **form: str) -> Answer:
    usual = {"grant_type": EXCHANGE, "subject_token": token, "subject_token_type": ACCESS_TOKEN}
    return await desk.service.token("desk2", **usual, **form)


async def by_device(desk: ClientApp) -> Answer:
    return await desk.service.post(DEVICE_AUTHORIZATION, auth="desk2", scope=ADMIN)


async def by_ciba(desk: ClientApp) -> Answer:
    form: dict[str, Any] = {"scope": f"openid {ADMIN}", "login_hint": "alice"}
    return await desk.service.post(BACKCHANNEL_AUTHENTICATION, auth="desk2", **form)


async def by_pushed_request(desk: ClientApp) -> Answer:
    form: dict[str, Any] = desk.parameters(response_type="code token", scope=f"openid {ADMIN}")
    return await desk.service.post("/connect/par", auth="desk2", **form)


async def by_a_client_that_lists_none(desk: ClientApp) -> Answer:
    return await desk.service.token("machine", grant_type="client_credentials", scope=ADMIN)


async def by_the_url_alone(desk: ClientApp) -> Answer:
    form = {"resource": str(desk.service.admin_url), "scope": "api1"}
    return await desk.service.token("machine", grant_type="client_credentials", **form)


async def by_refresh_of_less(desk: ClientApp) -> Answer:
    tokens = await desk.tokens(scope="openid offline_access api1")
    return await desk.refresh(tokens["refresh_token"], scope=f"api1 {ADMIN}")


WAYS: dict[str, tuple[Callable[[ClientApp], Awaitable[Answer]], str]] = {
    "password": (by_password, "invalid_scope"),
    "JWT bearer": (by_assertion, "invalid_scope"),
    "delegation of a token for the admin API": (by_delegation, "invalid_scope"),
    "exchange": (by_exchange, "invalid_scope"),
    "exchange of a token for the admin API": (by_exchange_of_an_admin_token, "invalid_request"),
    "exchange for the URL": (by_exchange_for_the_url, "invalid_target"),
    "device": (by_device, "invalid_scope"),
    "CIBA": (by_ciba, "invalid_scope"),
    "a pushed request for the front channel": (by_pushed_request, "invalid_scope"),
    "a client that does not list the scope": (by_a_client_that_lists_none, "invalid_scope"),
    "the URL without the scope": (by_the_url_alone, "invalid_target"),
    "a refresh token for less": (by_refresh_of_less, "invalid_scope"),
}


@pytest.mark.parametrize("name", WAYS)
async def test_no_token_for_the_admin_api_comes_by(desk: ClientApp, name: str) -> None:
    attempt, error = WAYS[name]
    assert (await attempt(desk)).refusal == (400, error)


@pytest.mark.parametrize("response_type", ["token", "code token", "id_token token"])
async def test_front_channel_gets_no_token_for_the_admin_api(
    desk: ClientApp, response_type: str
) -> None:
    page = await desk.authorize(
        response_type=response_type, scope=f"openid {ADMIN}"[7 * (response_type == "token") :]
    )
    assert page.parameters["error"] == "invalid_scope"


@pytest.mark.parametrize("grant", ["password", "delegation"])
async def test_default_scope_holds_none_of_the_admin_api(desk: ClientApp, grant: str) -> None:
    answer = await desk.service.token("desk2", grant_type=grant, username="alice", password="alice-password", token="x")  # fmt: skip
    assert "admin" not in answer.json.get("scope", "")


async def test_registered_client_does_not_get_the_scope(service: RunningService) -> None:
    registered = await register(service, scope=f"openid {ADMIN}")
    assert registered["scope"] == "openid"


async def test_gateway_cannot_ask_about_the_admin_api(service: RunningService) -> None:
    token = await token_of(service, "operations")
    path = f"/connect/check/{quote(str(service.admin_url), safe='')}"
    answer = await service.get(path, headers={"Authorization": f"Bearer {token}"})
    assert answer.status == 404


async def test_metadata_do_not_tell_of_the_admin_api(service: RunningService) -> None:
    found = await service.get("/.well-known/openid-configuration")
    assert not {"admin.read", ADMIN} & {*found["scopes_supported"]}
    about = f"/.well-known/oauth-protected-resource/{quote(str(service.admin_url), safe='')}"
    assert (await service.get(about)).status == 404


async def test_a_permission_that_is_withdrawn_counts_at_once(
    service: RunningService, config: dict[str, Any]
) -> None:
    token = await token_of(service, "operations")
    client_in(config, "operations")["allowed_scopes"] = ["api1"]
    _reload(service, config)
    assert (await service.admin("GET", "/admin/keys", token)).refusal == (401, "invalid_token")


async def test_user_taken_from_the_list_is_refused_at_once(
    service: RunningService, desk: ClientApp, config: dict[str, Any]
) -> None:
    token = (await desk.tokens(scope="openid admin.read"))["access_token"]
    assert (await service.admin("GET", "/admin/keys", token)).status == 200
    config["admin"]["allowed_users"] = [{"sub": ["88421113"]}]
    _reload(service, config)
    refused = await service.admin("GET", "/admin/keys", token)
    assert refused.refusal == (403, "insufficient_scope")


def _reload(service: RunningService, config: dict[str, Any]) -> None:
    shared = service.features.shared
    shared.configuration.file.write_text(json.dumps(config))
    assert shared.registry.reload()


@pytest.mark.parametrize("sub", ["operations", ALICE])
async def test_token_of_the_server_before_is_refused(
    start: Any, config: dict[str, Any], tmp_path: Path, sub: str
) -> None:
    file = write_jwks(tmp_path / "old.json", old_key().public_jwk)
    config["signing"]["verify_only"] = [{"jwks": str(file), "until": at(hours=1)}]
    service = await start(config)
    claims = {"iss": service.issuer, "aud": service.admin_url, "azp": "operations", "sub": sub}
    claims |= {"typ": "Bearer", "scope": "admin.write", "jti": "a", "iat": int(time())}
    token = await old_key().sign(claims | {"exp": int(time()) + 60}, typ="JWT")
    assert (await service.admin("GET", "/admin/keys", token)).refusal == (401, "invalid_token")


PUBLIC = [
    *("/.well-known/openid-configuration", "/.well-known/jwks.json", "/connect/token"),
    *("/connect/introspect", "/connect/userinfo", "/connect/authorize", "/account/login"),
    *("/connect/register", "/health/live", "/health/ready", "/metrics", "/connect/check/api1"),
]


@pytest.mark.parametrize("path", PUBLIC)
async def test_public_paths_are_not_on_the_admin_listener(
    service: RunningService, path: str
) -> None:
    token = await token_of(service, "operations")
    for method in ("GET", "POST"):
        assert (await service.admin(method, path, token)).status in (404, 405)


ADMIN_PATHS = [
    *("/admin/clients", "/admin/users?sub=818727", "/admin/keys", "/admin/registry"),
    *("/admin/users/818727/sessions", "/admin/users/818727/unlock", "/admin/keys/rotate"),
    *("/admin/outbox", "/admin/explain", "/admin/graph", "/admin"),
]


@pytest.mark.parametrize("path", ADMIN_PATHS)
async def test_admin_paths_are_not_on_the_public_port(service: RunningService, path: str) -> None:
    token = await token_of(service, "operations")
    sent = {"Authorization": f"Bearer {token}"}
    for method in ("GET", "POST", "DELETE"):
        assert (await service.request(method, path, headers=sent)).status == 404


async def test_without_the_section_there_is_no_admin_api(
    start: Any, config: dict[str, Any]
) -> None:
    del config["admin"]
    for client in config["clients"]:
        client["allowed_scopes"] = [
            one for one in client["allowed_scopes"] if "admin" not in one
        ] or ["api1"]
    service = await start(config)
    assert service.admin_url is None
    answer = await service.token("operations", grant_type="client_credentials", scope="admin.read")
    assert answer.refusal == (400, "invalid_scope")
