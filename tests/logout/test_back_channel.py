"""Clients that took part in a session get a logout token when it ends (OpenID Connect Back-Channel Logout §2)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from msgspec.structs import force_setattr

from service.events.users import BackChannelLogoutDelivered
from tests.account.account_page import end_session
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, claims_in, header_of
from tests.logout.conftest import BYE, end, nothing_waits
from tests.logout.relying_party import RelyingParty, relying_party

pytestmark = pytest.mark.rfc("openid-backchannel#2.5")

EVENT = "http://schemas.openid.net/event/backchannel-logout"


@pytest.fixture
async def another_party() -> AsyncIterator[RelyingParty]:
    """The site of `implicit`."""
    async with relying_party() as party:
        yield party


@pytest.fixture
def config(
    config: dict[str, Any], party: RelyingParty, another_party: RelyingParty
) -> dict[str, Any]:
    client_in(config, "web")["backchannel_logout_uri"] = party.backchannel_logout_uri
    client_in(config, "implicit")["backchannel_logout_uri"] = another_party.backchannel_logout_uri
    return config


@pytest.mark.rfc("openid-backchannel#2.4")
async def test_a_logout_token_names_the_user_the_session_and_the_client(
    app: ClientApp, hint: str, party: RelyingParty, service: RunningService
) -> None:
    await end(app, hint)
    (claims,) = await party.claims()
    assert claims.pop("jti")
    assert claims.pop("iat") == pytest.approx(time.time(), abs=5)
    assert claims.pop("exp") == pytest.approx(time.time() + 120, abs=5)
    expected = {"iss": service.issuer, "aud": "web", "sub": "818727", "events": {EVENT: {}}}
    assert claims == expected | {"sid": claims_in(hint)["sid"]}


@pytest.mark.rfc("openid-backchannel#2.4", "openid-backchannel#4.1")
async def test_a_logout_token_is_typed_and_signed_like_an_id_token(
    app: ClientApp, hint: str, party: RelyingParty, service: RunningService
) -> None:
    await end(app, hint)
    await party.claims()
    header = header_of(party.tokens[0])
    assert (header["typ"], header["alg"]) == ("logout+jwt", "ES256")
    jwks = await service.get("/.well-known/jwks.json")
    assert header["kid"] in {key["kid"] for key in jwks["keys"]}


async def test_a_logout_token_comes_as_the_only_form_parameter(
    app: ClientApp, hint: str, party: RelyingParty
) -> None:
    await end(app, hint)
    await party.claims()
    assert party.requests[0].content_type == "application/x-www-form-urlencoded"
    assert list(party.forms[0]) == ["logout_token"]


async def test_a_delivered_logout_token_is_an_event(
    app: ClientApp, hint: str, party: RelyingParty, service: RunningService, events: list[object]
) -> None:
    await end(app, hint, post_logout_redirect_uri=BYE)
    await party.claims()
    await nothing_waits(service)
    sid = claims_in(hint)["sid"]
    assert BackChannelLogoutDelivered(client_id="web", session_id=sid, attempts=1) in events


@pytest.mark.rfc("openid-backchannel#2.3")
async def test_only_clients_of_the_session_get_a_logout_token(
    app_of: Callable[[str], ClientApp], party: RelyingParty, another_party: RelyingParty
) -> None:
    hint = (await app_of("web").tokens())["id_token"]
    await app_of("spa").tokens()
    await end(app_of("web"), hint)
    await party.claims()
    assert (len(party.tokens), len(another_party.tokens)) == (1, 0)


@pytest.mark.rfc("openid-backchannel#2.3")
@pytest.mark.parametrize("response_type", ["code", "id_token", "code id_token", "id_token token"])
async def test_any_token_makes_a_client_part_of_the_session(
    app_of: Callable[[str], ClientApp],
    hint: str,
    party: RelyingParty,
    another_party: RelyingParty,
    response_type: str,
) -> None:
    await app_of("implicit").authorize(response_type=response_type, scope="openid profile")
    await end(app_of("web"), hint)
    (claims,) = await another_party.claims()
    assert (claims["aud"], claims["sid"]) == ("implicit", claims_in(hint)["sid"])
    assert len(await party.claims()) == 1


@pytest.mark.rfc("openid-backchannel#2.3", "openid-backchannel#2.7")
async def test_a_client_that_took_part_hours_ago_gets_a_logout_token(
    app: ClientApp, party: RelyingParty, clock: Clock
) -> None:
    hint = (await app.tokens())["id_token"]
    for _ in range(4):
        clock.forward(hours=9)
        await app.browser.get("/account")
    await end(app, hint)
    assert len(await party.claims()) == 1


async def test_a_client_with_offline_tokens_gets_a_logout_token(
    app: ClientApp, party: RelyingParty, service: RunningService
) -> None:
    offline = await app.tokens(scope="openid api1 offline_access")
    await end(app, offline["id_token"])
    await party.claims()
    assert await service.is_active(offline["access_token"])


async def test_a_client_gets_a_logout_token_after_a_session_of_weeks(
    app: ClientApp, party: RelyingParty, clock: Clock
) -> None:
    page = await app.browser.log_in(await app.authorize(), remember="true")
    hint = (await app.redeem(page.parameters["code"]))["id_token"]
    clock.forward(days=29)
    await end(app, hint)
    assert len(await party.claims()) == 1


async def test_a_client_gets_a_logout_token_for_a_session_that_a_new_login_prolonged(
    app: ClientApp, app_of: Callable[[str], ClientApp], party: RelyingParty, clock: Clock
) -> None:
    hint = (await remember_session(app)).json["id_token"]
    clock.forward(days=29)
    await app.browser.log_in(await app_of("spa").authorize(prompt="login"), remember="true")
    clock.forward(days=29)
    await end(app, hint)
    assert len(await party.claims()) == 1


async def remember_session(app: ClientApp) -> Answer:
    """Tokens from a session that lasts."""
    page = await app.browser.log_in(await app.authorize(), remember="true")
    return await app.redeem(page.parameters["code"])


async def test_ending_a_session_at_the_account_page_sends_logout_tokens(
    app: ClientApp, hint: str, party: RelyingParty
) -> None:
    await end_session(app.browser, claims_in(hint)["sid"])
    assert (await party.claims())[0]["sid"] == claims_in(hint)["sid"]


async def test_another_user_that_signs_in_at_the_same_browser_ends_the_session(
    app: ClientApp, hint: str, party: RelyingParty
) -> None:
    await app.browser.log_in(await app.authorize(prompt="login"), "bob")
    (claims,) = await party.claims()
    assert (claims["sub"], claims["sid"]) == ("818727", claims_in(hint)["sid"])


@pytest.mark.usefixtures("hint")
async def test_the_same_user_that_signs_in_again_ends_no_session(
    app: ClientApp, party: RelyingParty, service: RunningService
) -> None:
    await app.browser.log_in(await app.authorize(prompt="login"))
    await nothing_waits(service)
    assert party.tokens == []


async def test_a_session_that_ends_in_another_browser_leaves_this_one(
    app: ClientApp, hint: str, party: RelyingParty, stranger: Browser, service: RunningService
) -> None:
    other = (await ClientApp(service, stranger).tokens())["id_token"]
    await end(app, hint)
    (claims,) = await party.claims()
    assert claims["sid"] == claims_in(hint)["sid"] != claims_in(other)["sid"]


@pytest.mark.parametrize("change", [{"enabled": False}, {"backchannel_logout_uri": None}], ids=str)
async def test_a_client_without_a_logout_uri_any_more_gets_no_token(
    app: ClientApp,
    hint: str,
    party: RelyingParty,
    service: RunningService,
    change: dict[str, Any],
) -> None:
    await change_client(service, "web", **change)
    await end(app, hint)
    await nothing_waits(service)
    assert party.tokens == []


async def change_client(service: RunningService, client_id: str, **change: Any) -> None:
    """Make the registry say something else, as a reload would."""
    client = await service.features.clients.find(client_id)
    assert client is not None
    for name, value in change.items():
        force_setattr(client, name, value)
