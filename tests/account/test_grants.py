"""A person sees what clients may do, and takes it back (RFC 7009 §2.1, OIDC Core §3.1.2.4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from service.events.authorizations import AuthorizationEnded, ConsentWithdrawn
from tests.account.account_page import account, clients_on, end_session, revoke, sessions_on
from tests.conftest import Clock
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService

OFFLINE = "openid email api1 offline_access"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A logo, which the page's policy has to let through."""
    client_in(config, "consenting")["logo_uri"] = "https://logos.example/careful.png"
    config["api_scopes"] = [{"name": "api1", "display_name": "Read and write API 1"}]
    return config


@pytest.fixture
def consenting(app_of: Callable[[str], ClientApp]) -> ClientApp:
    """A client that asks for consent."""
    return app_of("consenting")


async def give_consent(client: ClientApp, scope: str = OFFLINE) -> dict[str, Any]:
    """The tokens after the person has allowed everything, for good."""
    page = await client.login(scope=scope)
    page = await client.browser.submit(page, action="allow")
    return (await client.redeem(page.parameters["code"])).json


async def test_each_client_is_shown_once_with_its_scopes(
    app: ClientApp, consenting: ClientApp
) -> None:
    await give_consent(consenting)
    await app.tokens()
    await app.tokens(scope="openid api2")
    page = await account(app.browser)
    assert sorted(clients_on(page)) == ["consenting", "web"]
    assert "Careful application" in page.text
    assert "Read and write API 1" in page.text
    assert "Access while you are away" in page.text


async def test_a_consent_is_shown_though_nothing_that_was_granted_lives(
    consenting: ClientApp, clock: Clock
) -> None:
    await give_consent(consenting)
    clock.forward(days=40)
    page = await consenting.browser.get("/account/login?return_to=/account")
    page = await consenting.browser.log_in(page)
    assert (page.path, clients_on(page)) == ("/account", ["consenting"])


async def test_a_clients_logo_may_be_shown(consenting: ClientApp) -> None:
    await give_consent(consenting)
    policy = (await account(consenting.browser)).headers["Content-Security-Policy"]
    assert "https://logos.example" in policy


async def test_a_revoked_grant_is_inactive_and_asked_again(
    consenting: ClientApp, service: RunningService
) -> None:
    tokens = await give_consent(consenting)
    page = await revoke(consenting.browser, "consenting")
    assert (page.path, clients_on(page)) == ("/account", [])
    assert not await service.is_active(tokens["access_token"])
    refused = await consenting.refresh(tokens["refresh_token"])
    assert refused.refusal == (400, "invalid_grant")
    assert (await consenting.authorize(scope=OFFLINE)).has("consent-allow")


async def test_revoking_a_grant_is_an_event(consenting: ClientApp, events: list[object]) -> None:
    await give_consent(consenting)
    await revoke(consenting.browser, "consenting")
    assert ConsentWithdrawn(subject="818727", client_id="consenting") in events
    assert len([event for event in events if isinstance(event, AuthorizationEnded)]) == 1


async def test_revoking_one_grant_leaves_those_of_other_clients(
    app: ClientApp, consenting: ClientApp, service: RunningService
) -> None:
    await give_consent(consenting)
    tokens = await app.tokens()
    page = await revoke(app.browser, "consenting")
    assert clients_on(page) == ["web"]
    assert await service.is_active(tokens["access_token"])


async def test_a_user_cannot_revoke_the_grant_of_another_user(
    app: ClientApp, other_app: ClientApp, service: RunningService
) -> None:
    bobs = await other_app.tokens("bob")
    await app.login()
    await revoke(app.browser, "web")
    assert await service.is_active(bobs["access_token"])


async def test_grants_by_password_are_shown_and_revoked(
    browser: Browser, service: RunningService
) -> None:
    tokens = await service.user_token()
    page = await browser.log_in(await account(browser))
    assert clients_on(page) == ["frontend"]
    await revoke(browser, "frontend")
    assert not await service.is_active(tokens["access_token"])


async def test_an_ended_session_leaves_offline_grants(
    app: ClientApp, other_browser: Browser
) -> None:
    await app.tokens(scope="openid api1 offline_access")
    await other_browser.log_in(await account(other_browser))
    (sid,) = set(sessions_on(await account(app.browser))) - {await own_session(other_browser)}
    assert clients_on(await end_session(other_browser, sid)) == ["web"]


async def own_session(browser: Browser) -> str:
    """The session of this browser, which the page shows first."""
    return sessions_on(await account(browser))[0]


async def without(client_id: str, service: RunningService, browser: Browser) -> Page:
    """The account page after the operator has removed a client."""
    file = service.features.shared.configuration.file
    configuration = yaml.safe_load(file.read_text())
    configuration["clients"].remove(client_in(configuration, client_id))
    file.write_text(yaml.safe_dump(configuration))
    assert await asyncio.to_thread(service.features.shared.registry.reload)
    return await account(browser)


async def test_the_grant_of_a_removed_client_is_shown_and_revoked(
    consenting: ClientApp, service: RunningService
) -> None:
    await give_consent(consenting)
    page = await without("consenting", service, consenting.browser)
    assert clients_on(page) == ["consenting"]
    assert clients_on(await revoke(consenting.browser, "consenting")) == []


async def test_revoking_the_grant_of_an_unknown_client_changes_nothing(app: ClientApp) -> None:
    await app.tokens()
    assert clients_on(await revoke(app.browser, "unknown")) == ["web"]


async def test_the_account_page_of_one_user_revokes_no_grant_of_another(app: ClientApp) -> None:
    await app.tokens()
    page = await account(app.browser)
    await app.tokens("bob", prompt="login")
    page = await app.browser.submit(page, session=None, client_id="web", action="revoke")
    assert (page.path, "Bob Jones" in page.text, clients_on(page)) == ("/account", True, ["web"])
