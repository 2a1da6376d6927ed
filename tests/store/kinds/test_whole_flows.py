"""The service's main flows, each as a whole, on every kind of store that the URL may name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from service.keys.stored_keys import StoredKeys
from tests.ciba.consumption import Device, answer, ciba_client
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registering import RegisteredApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.logout.conftest import end, is_signed_in, nothing_waits
from tests.logout.relying_party import RelyingParty

pytestmark = pytest.mark.needs("redis-server")


@pytest.fixture
def config(config: dict[str, Any], own_store: str, party: RelyingParty) -> dict[str, Any]:
    """This kind of store, and a client that is notified of logouts."""
    config["store"] = {"url": own_store}
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
    client_in(config, "web")["backchannel_logout_uri"] = party.backchannel_logout_uri
    config["clients"].append(ciba_client("till", client_in(config, "web")["client_secrets"]))
    return config


async def test_a_person_consents_and_a_code_becomes_tokens_that_rotate_until_they_are_revoked(
    app_of: Callable[[str], ClientApp], service: RunningService
) -> None:
    app = app_of("consenting")
    page = await app.login(scope="openid api1 offline_access")
    code = (await app.browser.submit(page, action="allow")).parameters["code"]
    first = await app.redeem(code)
    second = await app.refresh(first["refresh_token"])
    assert await service.is_active(second["access_token"])
    await service.post("/connect/revocation", auth="consenting", token=second["refresh_token"])
    assert not await service.is_active(second["access_token"])
    assert (await app.refresh(second["refresh_token"])).refusal == (400, "invalid_grant")


async def test_a_code_works_once_however_many_ask(app: ClientApp) -> None:
    code = await app.code()
    answers = await asyncio.gather(*[app.redeem(code) for _ in range(20)])
    assert sorted({answer.status for answer in answers}) == [200, 400]
    assert len([answer for answer in answers if answer.status == 200]) == 1


@pytest.mark.parametrize("client", ["frontend", "opaque"], ids=["JWT", "reference"])
async def test_a_delegated_token_dies_with_its_source(service: RunningService, client: str) -> None:
    source = (await service.user_token(client))["access_token"]
    exchanged = await service.token("api1", grant_type="delegation", token=source, scope="api2")
    assert await service.is_active(exchanged["access_token"], caller="api2")
    await service.post("/connect/revocation", auth=client, token=source)
    assert not await service.is_active(exchanged["access_token"], caller="api2")


async def test_clients_are_notified_when_their_session_ends(
    app: ClientApp, party: RelyingParty, service: RunningService
) -> None:
    tokens = await app.tokens()
    assert await is_signed_in(app)
    await end(app, tokens["id_token"])
    await party.claims()
    await nothing_waits(service)
    assert not await is_signed_in(app)
    assert not await service.is_active(tokens["access_token"])


async def test_a_client_registers_is_used_and_goes(
    service: RunningService, browser: Browser
) -> None:
    app = await RegisteredApp.register(service, browser, scope="openid api1")
    token = (await app.tokens())["access_token"]
    assert await service.is_active(token)
    assert (await app.manage("DELETE")).status == 204
    assert not await service.is_active(token)


async def test_a_key_is_announced(service: RunningService) -> None:
    source = service.features.key_source
    assert isinstance(source, StoredKeys)
    before = (await service.get("/.well-known/jwks.json"))["keys"]
    await source.rotate(at_once=False)
    await source.refresh()
    after = (await service.get("/.well-known/jwks.json"))["keys"]
    assert len(after) > len(before)


async def test_guesses_are_counted(app: ClientApp) -> None:
    page = await app.authorize()
    for _ in range(5):
        page = await app.browser.log_in(page, "bob", password="wrong")
    assert (await app.browser.log_in(page, "bob")).has("login-error")


async def test_a_user_confirms_elsewhere_what_a_client_polls_for(
    service: RunningService, browser: Browser
) -> None:
    till = Device(service)
    allowed, denied = await till.begin(), await till.begin()
    await answer(browser, allowed)
    await answer(browser, denied, "deny")
    answers = await asyncio.gather(*[till.poll(allowed) for _ in range(9)])
    assert sorted(each.status for each in answers) == [200, *[400] * 8]
    assert (await till.poll(denied)).error == "access_denied"
