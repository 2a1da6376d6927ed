"""A form that is not of a page this browser was shown changes nothing (ASVS 3.5, RFC 6749 §10.12)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from service.events.users import LoginFailed
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("6749#10.12")

FORMS = [
    "/account/login",
    "/account/select",
    "/account/consent",
    "/account/logout",
    "/account",
    "/device",
]


@pytest.fixture
async def attacker(service: RunningService) -> AsyncIterator[Browser]:
    """Somebody else, who knows a value of their own."""
    browser = Browser(service.issuer)
    yield browser
    await browser.close()


async def csrf_of(browser: Browser) -> str:
    """The value in the forms of this browser."""
    return dict((await browser.get("/account/login")).forms[0].fields)["csrf"]


@pytest.mark.parametrize("path", FORMS)
async def test_every_form_is_refused_without_its_value(
    app: ClientApp, attacker: Browser, path: str
) -> None:
    await app.login()
    foreign = await csrf_of(attacker)
    for form in ({}, {"csrf": ""}, {"csrf": "guess"}, {"csrf": foreign}, {"csrf": "ü"}):
        page = await app.browser.post(path, {"action": "allow", **form})
        assert (page.status, page.error) == (403, "invalid_request")


@pytest.mark.parametrize("path", FORMS)
async def test_a_browser_without_a_cookie_has_no_form(browser: Browser, path: str) -> None:
    csrf = await csrf_of(browser)
    browser.forget_cookies()
    assert (await browser.post(path, {"csrf": csrf})).status == 403


async def test_forged_login_is_refused(browser: Browser, events: list[object]) -> None:
    form = {"username": "alice", "password": "alice-password", "action": "login"}
    assert (await browser.post("/account/login", form)).status == 403
    assert "sid" not in browser.cookies
    assert not any(isinstance(event, LoginFailed) for event in events)


async def test_forged_logout_is_refused(app: ClientApp) -> None:
    await app.login()
    await app.browser.post("/account/logout", {})
    assert "code" in (await app.authorize(prompt="none")).parameters


async def test_a_forged_answer_leaves_the_request_waiting(app: ClientApp) -> None:
    page = await app.authorize()
    assert (await app.browser.submit(page, csrf="guess", action="cancel")).status == 403
    assert "code" in (await app.browser.log_in(page)).parameters


@pytest.mark.parametrize("path", FORMS)
async def test_another_content_type_is_refused(service: RunningService, path: str) -> None:
    answer = await service.post(path, raw="{}", headers={"Content-Type": "text/plain"})
    assert answer.status in {403, 415}
