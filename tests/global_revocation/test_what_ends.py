"""One request ends all that a user has, and nothing of anybody else (draft-parecki-oauth-global-token-revocation-06 §3.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.events.authorizations import ConsentWithdrawn
from service.events.users import SessionEnded, SubjectRevoked
from service.model.handle import digest
from service.tokens.liveness import note_end
from tests.ciba.consumption import Device, answer, open_request, ref_of
from tests.conftest import Clock, Start
from tests.device.tv import Television
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import hashed
from tests.driving.service import RunningService
from tests.global_revocation.okta import ask_as, opaque
from tests.jwt_bearer.foreign import Partner, partner_entry, presenter_entry
from tests.pushed_requests.test_pushed_requests import follow, pushed
from tests.token_exchange.exchanging import EXCHANGE, exchange

pytestmark = pytest.mark.rfc("global-token-revocation#3.3")

ALICE = "818727"
OFFLINE = "openid api1 offline_access"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A trusted issuer speaks about users of this service."""
    config["trusted_issuers"] = [partner_entry(existing_user=True, subject="{sub}")]
    config["clients"].append(presenter_entry("courier", hashed("courier")))
    grants = [EXCHANGE, "refresh_token"]
    broker = presenter_entry("broker", hashed("broker"), allowed_grant_types=grants)
    config["clients"].append(broker | {"allow_offline_access": True})
    config["token_exchange"] = [
        {
            "clients": ["broker"],
            "subject_token_types": ["jwt"],
            "subject_issuers": ["partner"],
            "requested_token_types": ["access_token", "refresh_token", "id_token"],
            "scopes": ["openid", "api1"],
            "audiences": ["api1"],
            "actor": "none",
        }
    ]
    return config


async def end_all(service: RunningService) -> SubjectRevoked:
    """Ask for it; what was ended."""
    assert (await ask_as(service, "siem", opaque(ALICE))).status == 204
    return [each for each in service.events if isinstance(each, SubjectRevoked)][-1]


async def test_a_code_that_is_not_redeemed_yet_ends(app: ClientApp) -> None:
    codes = [await app.code(scope=scope) for scope in ("openid api1", OFFLINE)]
    ended = await end_all(app.service)
    assert (ended.sessions, ended.grants) == (1, 1)  # the other one ends with the session
    for code in codes:
        assert (await app.redeem(code)).refusal == (400, "invalid_grant")


async def test_what_a_device_was_allowed_ends_before_its_poll(
    service: RunningService, browser: Browser
) -> None:
    tv = await Television.switch_on(service, browser)
    await tv.decide("allow")
    assert (await end_all(service)).sessions == 1
    assert (await tv.poll()).refusal == (400, "invalid_grant")


async def test_a_device_whose_code_was_entered_waits_for_a_new_sign_in(
    service: RunningService, browser: Browser
) -> None:
    tv = await Television.switch_on(service, browser)
    page = await tv.confirmation()
    await end_all(service)
    late = await browser.submit(page, action="allow")
    assert late.has("login") or late.status == 400
    assert (await tv.poll()).refusal == (400, "authorization_pending")


async def test_ciba_requests_end_whether_they_wait_or_are_allowed(
    service: RunningService, browser: Browser
) -> None:
    till = Device(service)
    allowed, waiting = await till.begin(), await till.begin()
    await answer(browser, allowed)
    ended = await end_all(service)
    assert (ended.sessions, ended.requests) == (1, 1)
    assert (await till.poll(allowed)).refusal == (400, "invalid_grant")
    assert (await till.poll(waiting)).refusal == (400, "access_denied")
    assert (await browser.get("/account/requests")).has("login")


async def test_a_ciba_request_that_expires_meanwhile_is_not_counted(
    service: RunningService,
) -> None:
    till, shared = Device(service), service.features.shared
    expired, waiting = await till.begin(), await till.begin()
    await shared.kv.write(shared.stores.backchannel_requests.drop(ref_of(expired)))
    assert (await end_all(service)).requests == 1
    assert (await till.poll(waiting)).refusal == (400, "access_denied")


async def test_a_pushed_request_needs_a_new_sign_in(app: ClientApp) -> None:
    await app.login()
    uri = await pushed(app)
    await end_all(app.service)
    assert (await follow(app, uri)).has("login")


async def test_a_request_whose_consent_is_asked_for_needs_a_new_sign_in(
    app_of: Callable[[str], ClientApp],
) -> None:
    app = app_of("consenting")
    uri = await pushed(app)
    page = await app.browser.log_in(await follow(app, uri))
    assert page.path == "/account/consent"
    await end_all(app.service)
    late = await app.browser.submit(page, action="allow")
    assert "code" not in late.parameters
    assert late.has("login") or late.status == 400


async def test_consents_are_withdrawn(app_of: Callable[[str], ClientApp], clock: Clock) -> None:
    app = app_of("consenting")
    page = await app.login()
    await app.browser.submit(page, action="allow", remember="on")
    ended = await end_all(app.service)
    assert (ended.sessions, ended.consents) == (1, 1)
    assert ConsentWithdrawn(subject=ALICE, client_id="consenting") in app.service.events
    clock.forward(seconds=5)
    assert (await app.login()).path == "/account/consent"


async def test_every_session_ends_in_every_browser(service: RunningService, app: ClientApp) -> None:
    elsewhere = Browser(service.issuer)
    other = ClientApp(service, elsewhere, "spa")
    await app.login()
    await other.login()
    assert (await end_all(service)).sessions == 2
    assert len([each for each in service.events if isinstance(each, SessionEnded)]) == 2
    for one in (app, other):
        assert (await one.authorize(prompt="none")).error == "login_required"
    await elsewhere.close()


async def test_tokens_of_a_password_and_of_a_delegation_end(service: RunningService) -> None:
    source = (await service.user_token("opaque", "api1"))["access_token"]
    form = {"grant_type": "delegation", "token": source, "scope": "api2"}
    delegated = (await service.token("api1", **form))["access_token"]
    assert await service.is_active(delegated, caller="api2")
    await end_all(service)
    assert not await service.is_active(source)
    assert not await service.is_active(delegated, caller="api2")


async def grants_of_alice(service: RunningService) -> list[object]:
    listed = service.features.shared.stores.subject_authorizations
    (found,) = await service.features.shared.kv.write(listed.first(digest(ALICE), count=1))
    return list(found)


async def test_an_assertion_that_was_made_before_gets_no_token_afterwards(
    service: RunningService, clock: Clock
) -> None:
    partner = Partner(service)
    before = await partner.assertion(sub=ALICE)
    token = (await partner.grant(sub=ALICE))["access_token"]
    clock.forward(seconds=5)
    await end_all(service)
    assert not await service.is_active(token)
    clock.forward(seconds=5)
    assert (await partner.present(before)).refusal == (400, "invalid_grant")
    assert await grants_of_alice(service) == []
    assert (await partner.grant(sub=ALICE)).status == 200


async def test_an_assertion_that_lives_longer_than_a_session_gets_no_token_afterwards(
    start: Start, config: dict[str, Any], clock: Clock
) -> None:
    config["session"] = {"lifetime": 60, "max_lifetime": 60}
    service = await start(config)
    before = await Partner(service).assertion(sub=ALICE)
    clock.forward(seconds=5)
    await end_all(service)
    clock.forward(seconds=120)
    assert (await Partner(service).present(before)).refusal == (400, "invalid_grant")


@pytest.mark.parametrize("requested", ["access_token", "refresh_token", "id_token"])
async def test_a_foreign_token_that_was_made_before_is_exchanged_for_nothing_afterwards(
    service: RunningService, clock: Clock, requested: str
) -> None:
    before = await Partner(service).assertion(sub=ALICE)
    scope = {"refresh_token": "api1 offline_access", "id_token": "openid"}.get(requested, "api1")
    kind = {"of_type": "jwt", "requested_token_type": requested, "scope": scope}
    assert (await exchange(service, before, "broker", **kind)).status == 200
    clock.forward(seconds=5)
    await end_all(service)
    refused = await exchange(service, before, "broker", **kind)
    assert refused.refusal == (400, "invalid_request")  # RFC 8693 §2.2.2
    assert await grants_of_alice(service) == []
    clock.forward(seconds=5)
    again = await Partner(service).assertion(sub=ALICE)
    assert (await exchange(service, again, "broker", **kind)).status == 200


async def test_another_user_keeps_everything(service: RunningService, app: ClientApp) -> None:
    tokens = await app.tokens("bob", scope=OFFLINE)
    ended = await end_all(service)
    assert (ended.sessions, ended.grants, ended.consents, ended.requests) == (0, 0, 0, 0)
    assert await service.is_active(tokens["access_token"])
    assert (await app.refresh(tokens["refresh_token"])).status == 200
    assert "code" in (await app.authorize(prompt="none")).parameters


async def test_the_user_signs_in_again_afterwards(app: ClientApp, clock: Clock) -> None:
    await app.tokens(scope=OFFLINE)
    await end_all(app.service)
    clock.forward(seconds=2)
    tokens = await app.tokens(scope=OFFLINE)
    assert await app.service.is_active(tokens["access_token"])
    assert (await app.refresh(tokens["refresh_token"])).status == 200
    assert (await app.service.user_token()).status == 200


async def test_a_sign_in_in_the_second_of_the_end_is_refused(
    app: ClientApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    await end_all(app.service)
    second = await app.service.features.shared.kv.read(
        app.service.features.shared.stores.access_ends.read(digest(ALICE))
    )
    monkeypatch.setattr("service.endpoints.login.clock", lambda: second[0])
    page = await app.login()
    assert (page.status, "sign in again" in page.text) == (400, True)


async def begin_end(service: RunningService) -> None:
    """Note it, as a replica does first: another server of a Cluster may not have got yet what it does next."""
    shared = service.features.shared
    await shared.kv.write(note_end(shared.stores, ALICE, ttl=60), durable=True)


async def test_a_session_grants_nothing_once_an_end_has_begun(app: ClientApp) -> None:
    await app.login()
    before = await app.service.features.shared.authorizations.find_all_of(ALICE)
    await begin_end(app.service)
    refused = await app.authorize(prompt="none", scope=OFFLINE)
    assert (refused.status, refused.parameters["error"]) == (303, "login_required")
    assert await app.service.features.shared.authorizations.find_all_of(ALICE) == before


async def test_a_device_is_allowed_nothing_once_an_end_has_begun(
    service: RunningService, browser: Browser
) -> None:
    tv = await Television.switch_on(service, browser, scope=OFFLINE)
    page = await tv.confirmation()
    await begin_end(service)
    refused = await browser.submit(page, action="allow")
    assert (refused.status, "login_required" in refused.text) == (400, True), refused.text
    assert (await tv.poll()).refusal == (400, "authorization_pending")
    assert not await service.features.shared.authorizations.find_all_of(ALICE)


async def test_a_ciba_request_is_allowed_nothing_once_an_end_has_begun(
    service: RunningService, browser: Browser
) -> None:
    till = Device(service)
    auth_req_id = await till.begin()
    await open_request(browser, auth_req_id)
    await begin_end(service)
    await answer(browser, auth_req_id)
    assert (await till.poll(auth_req_id)).refusal == (400, "authorization_pending")
    assert not await service.features.shared.authorizations.find_all_of(ALICE)
