"""A session ends at one replica, and with it everywhere all that hung on it (RP-Initiated and Back-Channel Logout)."""

from __future__ import annotations

import pytest

from tests.account.account_page import end_session, revoke
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService, claims_in
from tests.logout.conftest import BYE, end, is_signed_in
from tests.logout.relying_party import RelyingParty
from tests.scale.any_replica.dice import Dice


async def test_a_person_confirms_the_logout(
    app: ClientApp, party: RelyingParty, service: RunningService
) -> None:
    tokens = await app.tokens()
    parameters = {"client_id": "web", "post_logout_redirect_uri": BYE, "state": "the-state"}
    page = await app.browser.get("/connect/endsession", params=parameters)
    page = await app.browser.submit(page)
    assert page.url == f"{BYE}?state=the-state"
    await _told(party, tokens)
    assert not await is_signed_in(app)
    assert not await service.is_active(tokens["access_token"])


@pytest.mark.parametrize("dice", [1], indirect=True)  # it takes seconds
async def test_a_client_that_failed_is_told_again(app: ClientApp, party: RelyingParty) -> None:
    party.status = 500
    tokens = await app.tokens()
    await end(app, tokens["id_token"])
    await _told(party, tokens)
    party.status = 200
    await _told(party, tokens, times=2)


async def test_a_person_ends_the_session_of_another_browser(
    app: ClientApp, service: RunningService, dice: Dice
) -> None:
    elsewhere = ClientApp(service, Browser(service.issuer, **dice.session))
    sid = claims_in((await elsewhere.tokens("bob"))["id_token"])["sid"]
    await app.login("bob")
    await end_session(app.browser, sid)
    assert not await is_signed_in(elsewhere)
    await elsewhere.browser.close()


async def test_a_person_takes_back_what_a_client_may_do(
    app: ClientApp, service: RunningService
) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    await revoke(app.browser, "web")
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")
    assert not await service.is_active(tokens["access_token"])


async def _told(party: RelyingParty, tokens: Answer, *, times: int = 1) -> None:
    """Wait until the client got so many logout tokens for this session, among those of other tests."""
    sid = claims_in(tokens["id_token"])["sid"]
    arrived: list[str] = []
    while arrived.count(sid) < times:
        told = await party.claims(len(arrived) + 1)
        arrived = [claims["sid"] for claims in told]
