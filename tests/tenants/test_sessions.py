"""A session counts for requests of its own tenant, or of none (OIDC Core §3.1.2.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import claims_in

pytestmark = pytest.mark.rfc("openid-core#3.1.2.3", "openid-core#3.1.2.6")

AppOf = Callable[[str], ClientApp]
ACME, BETA = "tenant:acme", "tenant:beta"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`consenting` is for any tenant, too."""
    config["identity_resources"] = [{"name": "organisation", "user_claims": ["tenant"]}]
    client_in(config, "web")["allowed_scopes"].append("organisation")
    return config


@pytest.mark.parametrize(
    ("username", "first", "second"),
    [
        ("alice", None, None),
        ("alice", None, ACME),
        ("alice", ACME, None),
        ("alice", ACME, ACME),
        ("bob", BETA, "tenant:unknown"),
    ],
)
async def test_a_session_counts_for_its_own_tenant_and_for_none(
    app: ClientApp, username: str, first: str | None, second: str | None
) -> None:
    await app.code(username, acr_values=first)
    assert "code" in (await app.authorize(acr_values=second, prompt="none")).parameters


@pytest.mark.parametrize("first", [None, ACME])
async def test_a_session_of_another_tenant_counts_for_nothing(
    app: ClientApp, first: str | None
) -> None:
    await app.code("alice", acr_values=first)
    silent = await app.authorize(acr_values=BETA, prompt="none")
    assert (silent.error, "code" in silent.parameters) == ("login_required", False)
    page = await app.authorize(acr_values=BETA)
    assert page.path == "/account/login"
    assert "Alice" not in page.text


async def test_a_session_of_one_tenant_counts_for_nothing_at_a_client_of_another(
    app: ClientApp, app_of: AppOf
) -> None:
    await app.code("alice")
    assert (await app_of("spa").authorize(prompt="none")).error == "login_required"
    assert (await app_of("spa").authorize()).path == "/account/login"
    assert "code" in (await app_of("implicit").authorize(prompt="none")).parameters


async def test_a_client_of_two_tenants_takes_the_users_of_both_and_of_no_other(
    app: ClientApp, app_of: AppOf, reload: Callable[..., None]
) -> None:
    def both(config: dict[str, Any]) -> None:
        config["tenants"].append({"name": "gamma"})
        client_in(config, "spa")["tenants"] = ["acme", "beta"]
        config["users"]["list"][1]["tenant"] = "gamma"

    await app.code("bob")
    reload(both)
    assert (await app_of("spa").authorize(prompt="none")).error == "login_required"
    assert "code" in (await app_of("spa").login("alice")).parameters


@pytest.mark.parametrize("acr_values", [ACME, "tenant:acme tenant:beta"])
async def test_a_tenant_that_is_not_the_clients_is_not_asked_for(
    app_of: AppOf, acr_values: str
) -> None:
    page = await app_of("spa").authorize(acr_values=acr_values)
    assert '<p class="host"><bdi>Beta</bdi></p>' in page.text
    assert (await app_of("spa").browser.log_in(page, "alice")).has("login-error")
    assert "code" in (await app_of("spa").login("bob", acr_values=acr_values)).parameters


async def test_account_of_another_tenant_cannot_be_chosen(app: ClientApp) -> None:
    await app.code("alice")
    page = await app.authorize(acr_values=BETA, prompt="select_account")
    assert page.path == "/account/login"
    page = await app.authorize(acr_values=ACME, prompt="select_account")
    assert "Alice Smith" in page.text


async def test_a_remembered_consent_does_not_let_a_session_of_another_tenant_in(
    app_of: AppOf,
) -> None:
    app = app_of("consenting")
    consent = await app.login("alice", acr_values=ACME)
    await app.browser.submit(consent, action="allow", remember="true")
    assert "code" in (await app.authorize(acr_values=ACME, prompt="none")).parameters
    assert (await app.authorize(acr_values=BETA, prompt="none")).error == "login_required"


async def test_the_form_of_a_consent_is_no_way_around_the_login_of_another_tenant(
    app_of: AppOf,
) -> None:
    app = app_of("consenting")
    await app.login("alice", acr_values=ACME)
    login = await app.authorize(acr_values=BETA)
    forged = await app.browser.get(login.url.replace("/account/login", "/account/consent"))
    page = await app.browser.submit(forged, action="allow")
    assert page.path == "/account/login"


async def test_a_login_at_another_tenant_takes_the_place_of_the_session(app: ClientApp) -> None:
    await app.code("alice", acr_values=ACME)
    await app.code("bob", acr_values=BETA)
    assert (await app.authorize(acr_values=ACME, prompt="none")).error == "login_required"
    assert "code" in (await app.authorize(acr_values=BETA, prompt="none")).parameters


async def test_a_session_follows_its_user_to_another_tenant(
    app: ClientApp, reload: Callable[..., None]
) -> None:
    await app.code("alice", acr_values=ACME)
    reload(lambda config: config["users"]["list"][0].update(tenant="beta"))
    assert (await app.authorize(acr_values=ACME, prompt="none")).error == "login_required"
    assert "code" in (await app.authorize(acr_values=BETA, prompt="none")).parameters


@pytest.mark.rfc("openid-core#5.4")
async def test_clients_learn_the_tenant_by_a_scope_that_asks_for_it(app: ClientApp) -> None:
    for scope, told in (("openid organisation", "acme"), ("openid", None)):
        tokens = await app.tokens("alice", scope=scope)
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        userinfo = await app.service.get("/connect/userinfo", headers=headers)
        assert userinfo.json.get("tenant") == told


@pytest.mark.rfc("9068#2.2.2")
async def test_apis_learn_the_tenant_if_they_ask_for_it(
    app: ClientApp, reload: Callable[..., None]
) -> None:
    reload(lambda config: config["api_resources"][0].update(user_claims=["tenant"]))
    tokens = await app.tokens("alice", scope="openid api1")
    assert claims_in(tokens["access_token"])["tenant"] == "acme"
    assert (await app.service.introspect(tokens["access_token"]))["tenant"] == "acme"


async def test_tenants_that_are_not_configured_mean_nothing(
    app: ClientApp, reload: Callable[..., None]
) -> None:
    def without(config: dict[str, Any]) -> None:
        config["tenants"] = []
        for client in config["clients"]:
            client.pop("tenants", None)
        for user in config["users"]["list"]:
            user["tenant"] = None

    reload(without)
    await app.code("alice", acr_values=ACME)
    assert "code" in (await app.authorize(acr_values=BETA, prompt="none")).parameters
