"""Clients of Hydra, dex and IdentityServer find the endpoints where they have always been; aliases do not contradict each other."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import pytest
import yaml

from service.protocol.path_aliases import ALIASES, PathAliases, Server
from service.start.load import inspect
from tests.conftest import Start
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import RunningService

BYE = "https://web.example/bye"


@pytest.fixture
def server(request: pytest.FixtureRequest) -> str:
    """The server before."""
    return str(request.param)


@pytest.fixture
def config(config: dict[str, Any], server: str) -> dict[str, Any]:
    """It has replaced this server; dex has an issuer with a path."""
    config["path_aliases"] = [server]
    if server == "dex":
        config["issuer"] = "http://localhost:0/dex"
    device = "urn:ietf:params:oauth:grant-type:device_code"
    client_in(config, "web")["allowed_grant_types"].append(device)
    return config


async def sign_in(app: ClientApp, authorize: str, token: str) -> dict[str, Any]:
    """Sign in by these paths; return the token response."""
    url = f"{app.service.issuer}{authorize}?{urlencode(app.parameters())}"
    page = await app.browser.log_in(await app.browser.get(url))
    form = {
        "grant_type": "authorization_code",
        "code": page.parameters["code"],
        "redirect_uri": app.redirect_uri,
        "code_verifier": app.code_verifier,
    }
    headers = DpopKey(app.service.issuer).header(token)
    answer = await app.service.post(token, auth="web", headers=headers, raw=None, **form)
    assert (answer.status, answer["token_type"]) == (200, "DPoP")
    return answer.json


@pytest.mark.parametrize("server", ["hydra"], indirect=True)
async def test_a_client_of_hydra_signs_in_and_out(app: ClientApp, service: RunningService) -> None:
    tokens = await sign_in(app, "/oauth2/auth", "/oauth2/token")
    bearer = (await service.token("frontend", **PASSWORD, scope="openid"))["access_token"]
    headers = {"Authorization": f"Bearer {bearer}"}
    assert (await service.get("/userinfo", headers=headers))["sub"] == "818727"
    await service.post("/oauth2/revoke", auth="web", token=tokens["access_token"])
    assert not await service.is_active(tokens["access_token"])
    query = {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": BYE}
    page = await app.browser.get(f"{service.issuer}/oauth2/sessions/logout?{urlencode(query)}")
    assert page.url == BYE


PASSWORD = {"grant_type": "password", "username": "alice", "password": "alice-password"}


@pytest.mark.parametrize("server", ["dex"], indirect=True)
async def test_a_client_of_dex_signs_in(app: ClientApp, service: RunningService) -> None:
    tokens = await sign_in(app, "/auth", "/token")
    introspect = await service.post("/token/introspect", auth="api1", token=tokens["access_token"])
    assert introspect["active"]
    usual = await service.get("/.well-known/jwks.json")
    assert (await service.get("/keys")).body == usual.body
    device = await service.post("/device/code", auth="web", scope="openid")
    assert (device.status, device["device_code"][:3]) == (200, "dv_")
    assert (await service.get("/userinfo")).status == 401


@pytest.mark.parametrize("server", ["identityserver"], indirect=True)
async def test_an_api_of_identityserver_finds_the_keys(service: RunningService) -> None:
    usual = await service.get("/.well-known/jwks.json")
    answer = await service.get("/.well-known/openid-configuration/jwks")
    assert (answer.status, answer.body) == (200, usual.body)
    device = await service.post("/connect/deviceauthorization", auth="web", scope="openid")
    assert device.status == 200


@pytest.mark.parametrize("server", ["hydra"], indirect=True)
@pytest.mark.parametrize("path", ["/auth", "/keys", "/protocol/openid-connect/certs", "/oauth2/"])
async def test_paths_of_servers_that_are_not_listed_lead_nowhere(
    service: RunningService, path: str
) -> None:
    assert (await service.get(path)).status == 404


@pytest.mark.parametrize("server", ["hydra"], indirect=True)
async def test_no_alias_hides_a_path_of_the_service_and_each_leads_to_one(
    start: Start, config: dict[str, Any]
) -> None:
    config["registration"] = {"enabled": True}
    service = await start(config)
    features = service.features
    known = PathAliases.of([*ALIASES])
    assert features.shared.aliases.listed == tuple(ALIASES["hydra"])
    for alias, own in known.exact.items():
        answer = await service.request("POST", own)
        assert answer.status != 404, alias
        assert known.find_own_path(own) == own
    assert known.find_own_path("/broker/github/endpoint") == "/connect/idp/github/callback"
    assert known.find_own_path("/broker/a/b/endpoint") == "/broker/a/b/endpoint"


def check(tmp_path: Path, issuer: str, *servers: str) -> list[str]:
    """The errors of a configuration with these aliases."""
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump({"issuer": issuer, "path_aliases": [*servers]}))
    return [
        f"{each.path}: {each.message}" for each in inspect(file, {}) if each.severity == "error"
    ]


REALM = "https://id.example.com/realms/shop"


@pytest.mark.parametrize("server", ALIASES)
def test_each_server_can_be_replaced(tmp_path: Path, server: str) -> None:
    assert check(tmp_path, REALM, server) == []
    assert check(tmp_path, f"https://id.example.com/auth/realms/{server}", server) == []


@pytest.mark.parametrize("issuer", ["https://id.example.com", "https://id.example.com/realms/"])
def test_aliases_of_keycloak_need_the_issuer_of_a_realm(tmp_path: Path, issuer: str) -> None:
    (error,) = check(tmp_path, issuer, "keycloak")
    assert error.startswith("path_aliases[0]: the paths of keycloak are below /realms/NAME")


def test_a_server_is_listed_once(tmp_path: Path) -> None:
    (error,) = check(tmp_path, REALM, "hydra", "hydra")
    assert error == "path_aliases[1]: hydra is listed twice"


def test_an_unknown_server_is_an_error(tmp_path: Path) -> None:
    (error,) = check(tmp_path, REALM, "zitadel")
    assert error == "path_aliases[0]: expected keycloak, identityserver, hydra or dex"


@pytest.mark.parametrize(("one", "other"), [*permutations(ALIASES, 2)])
def test_only_servers_with_different_callbacks_contradict_each_other(
    tmp_path: Path, one: str, other: str
) -> None:
    errors = check(tmp_path, REALM, one, other)
    if {one, other} == {"keycloak", "dex"}:
        (error,) = errors
        assert error.startswith("path_aliases[1]: ")
        assert "another redirect URI at identity providers" in error
    else:
        assert errors == []


def test_an_alias_of_two_endpoints_is_a_contradiction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubled = {**ALIASES["hydra"], "/token": "/connect/authorize"}
    monkeypatch.setitem(cast("dict[Server, Any]", ALIASES), "hydra", doubled)
    (error,) = check(tmp_path, REALM, "dex", "hydra")
    assert error.startswith("path_aliases[1]: /token of hydra is another endpoint")
