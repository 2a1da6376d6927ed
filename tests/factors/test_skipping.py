"""No way around the second factor: devices, CIBA, sessions of other clients, remembered browsers and stolen cookies (ASVS 6.3, RFC 9470 §4)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.ciba.consumption import REQUESTS, Device, ciba_client, ref_of
from tests.conftest import Clock
from tests.device.tv import TELEVISIONS, Television
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.factors.conftest import PATH
from tests.factors.phone import ALICE, Phone
from tests.factors.test_enrolment import ADD, SECURITY, phone_of

pytestmark = pytest.mark.rfc("9470#4", "8176#2")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The client `web` asks for no second factor, all others ask users that have one."""
    client_in(config, "web")["mfa_required"] = "never"
    config["clients"] += deepcopy(TELEVISIONS)
    config["clients"].append(ciba_client("till", client_in(config, "web")["client_secrets"]))
    return config


async def test_device_is_not_approved_by_a_session_of_the_password_alone(
    app: ClientApp, service: RunningService, browser: Browser, phone: Phone
) -> None:
    assert "code" in (await app.login()).parameters
    tv = await Television.switch_on(service, browser)
    page = await tv.enter()
    assert page.path == PATH
    fields = dict(page.forms[0].fields) | {"action": "allow", "user_code": tv.codes["user_code"]}
    for path in ("/device", "/account/consent"):
        assert (await browser.post(path, fields)).path == PATH
    assert (await tv.poll()).error == "authorization_pending"
    page = await browser.submit(page, otp=phone.code())
    assert (await browser.submit(page, action="allow")).has("device-done")


async def test_ciba_request_is_not_approved_by_a_session_of_the_password_alone(
    app: ClientApp, service: RunningService, browser: Browser, phone: Phone
) -> None:
    assert "code" in (await app.login()).parameters
    till = Device(service)
    auth_req_id = await till.begin()
    path = f"{REQUESTS}/{ref_of(auth_req_id)}"
    page = await browser.get(path)
    assert page.path == PATH
    (session,) = await service.features.shared.sessions.find_all_of(ALICE)
    fields = dict(page.forms[0].fields) | {"action": "allow", "session_id": session.id}
    assert (await browser.post(path, fields)).path == PATH
    assert (await till.poll(auth_req_id)).error == "authorization_pending"
    page = await browser.submit(await browser.get(path), otp=phone.code())
    assert page.has("request-allow")


async def test_browser_that_gave_the_factor_before_gives_it_at_the_next_login(
    service: RunningService, browser: Browser, phone: Phone
) -> None:
    app = ClientApp(service, browser, "consenting")
    page = await browser.log_in(await app.authorize(), remember="true")
    assert page.path == PATH
    assert "sid" not in browser.cookies
    page = await browser.submit(page, otp=phone.code())
    assert (page.path, "sid" in browser.cookies) == ("/account/consent", True)
    again = await browser.log_in(await app.authorize(prompt="login"), remember="true")
    assert again.path == PATH
    assert "code" not in (await app.authorize(prompt="none")).parameters


async def test_ended_session_that_was_remembered_counts_for_nothing(
    service: RunningService, browser: Browser, phone: Phone
) -> None:
    half = await browser.log_in(await browser.get("/account"), remember="true")
    await browser.submit(half, otp=phone.code())
    remembered = browser.cookies["sid"]
    (session,) = await service.features.shared.sessions.find_all_of(ALICE)
    await service.features.shared.sessions.end(session)
    browser.put_cookies({"sid": remembered})
    assert (await browser.get("/account")).path == "/account/login"
    assert (await browser.log_in(await browser.get("/account"))).path == PATH


async def test_password_grant_gives_nothing_that_skips_the_factor_later(
    service: RunningService, phone: Phone
) -> None:
    given = await service.user_token(scope="openid offline_access", otp=phone.code())
    assert claims_in(given["access_token"])["amr"] == ["pwd", "otp", "mfa"]
    refused = await service.user_token(scope="openid offline_access")
    assert refused.refusal == (400, "invalid_grant")


@pytest.mark.parametrize("minutes", [0, 6])
async def test_form_of_the_owner_is_of_no_use_with_a_cookie_in_another_browser(
    service: RunningService, browser: Browser, clock: Clock, minutes: int
) -> None:
    page = await browser.log_in(await browser.get(ADD))
    clock.forward(minutes=minutes)
    thief = Browser(service.issuer)
    await thief.get("/account/login")
    thief.put_cookies({"sid": browser.cookies["sid"]})
    fields = dict(page.forms[0].fields) | {"otp": phone_of(page).code(), "action": "confirm"}
    sent = await thief.post(ADD, fields)
    await thief.close()
    assert (sent.status, sent.error) == (403, "invalid_request")
    assert not (await service.features.shared.factors.find(ALICE)).is_enrolled


async def copy_cookies(service: RunningService, browser: Browser) -> Browser:
    """Open a thief's browser, with every cookie of this one."""
    thief = Browser(service.issuer)
    thief.put_cookies(browser.cookies)
    assert thief.cookies == browser.cookies
    return thief


async def test_all_cookies_of_a_login_just_now_change_no_factor_elsewhere(
    service: RunningService, browser: Browser
) -> None:
    """The thief reads the page, which shows no secret of the factors; each change leads to the login."""
    page = await browser.log_in(await browser.get(SECURITY))
    owned = phone_of(await browser.get(page.element("add-otp")["href"] or ""))
    thief = await copy_cookies(service, browser)
    listed = await thief.get(SECURITY)
    assert listed.path == SECURITY
    for at in (ADD, f"{ADD}?method=passkey", listed.element("add-otp")["href"] or ""):
        assert (await thief.get(at)).path == "/account/login"
    (session,) = await service.features.shared.sessions.find_all_of(ALICE)
    form = {"csrf": dict((await thief.get("/account")).forms[0].fields)["csrf"]}
    form |= {"session_id": session.id, "otp": owned.code(), "action": "confirm", "method": "otp"}
    for fresh_login in ({}, {"fresh_login": ""}, {"fresh_login": "x" * 22}):
        for action in ("confirm", "remove", "rename", "renew-recovery-codes"):
            for path in (ADD, SECURITY):
                sent = await thief.post(path, form | fresh_login | {"action": action})
                assert sent.path == "/account/login", (path, action)
    await thief.close()
    assert not (await service.features.shared.factors.find(ALICE)).is_enrolled


async def test_all_cookies_of_a_complete_sign_in_remove_and_renew_nothing_elsewhere(
    service: RunningService, browser: Browser, phone: Phone
) -> None:
    half = await browser.log_in(await browser.get(SECURITY))
    assert (await browser.submit(half, otp=phone.code())).path == SECURITY
    before = await service.features.shared.factors.find(ALICE)
    thief = await copy_cookies(service, browser)
    page = await thief.get(SECURITY)
    for form in range(len(page.forms)):
        for action in ("remove", "rename", "renew-recovery-codes"):
            sent = await thief.submit(page, form, action=action, name="stolen", factor="otp")
            assert sent.path == "/account/login"
    await thief.close()
    assert await service.features.shared.factors.find(ALICE) == before


@pytest.mark.parametrize("minutes", [0, 6])
async def test_session_cookie_in_another_browser_enrols_nothing(
    service: RunningService, browser: Browser, clock: Clock, minutes: int
) -> None:
    page = await browser.log_in(await browser.get(SECURITY))
    link_of_the_owner = page.element("add-otp")["href"] or ""
    assert "fresh_login=" in link_of_the_owner
    clock.forward(minutes=minutes)
    thief = Browser(service.issuer)
    login = await thief.get("/account/login")
    csrf = dict(login.forms[0].fields)["csrf"]
    thief.put_cookies({"sid": browser.cookies["sid"]})
    (session,) = await service.features.shared.sessions.find_all_of(ALICE)
    for path in (link_of_the_owner, ADD, f"{ADD}?method=passkey", SECURITY):
        assert path == SECURITY or (await thief.get(path)).path == "/account/login"
        fields = {"csrf": csrf, "session_id": session.id, "otp": "000000", "action": "confirm"}
        assert (await thief.post(path, fields)).path == "/account/login"
    await thief.close()
    assert not (await service.features.shared.factors.find(ALICE)).is_enrolled
