"""A user whose sign-in has to be repeated, to change factors or to answer a request, learns why (ASVS 7.5.1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ciba.consumption import Device, ciba_client, ref_of
from tests.conftest import Clock
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService
from tests.factors.phone import Phone

SECURITY = "/account/security"
ADD = f"{SECURITY}/add"


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    secrets = client_in(configuration, "web")["client_secrets"]
    till = ciba_client("till", secrets, user_sso_lifetime="10m")
    configuration["clients"].append(till)
    strict = client_in(configuration, "consenting")
    strict |= {"require_consent": False, "mfa_required": "always"}
    configuration["mfa"] = {"enrolment": "at_login"}
    return configuration


def assert_says_why(page: Page, why: str) -> None:
    """Return why the user has to sign in, and the user's name."""
    assert page.path == "/account/login"
    assert "Verify it’s you" in page.text
    assert why in page.text_of("verifying")
    assert page.element("username")["value"] == "alice"


async def test_page_that_is_asked_for_before_a_factor_is_added_says_why(app: ClientApp) -> None:
    await app.login()
    page = await app.browser.get(ADD)
    assert_says_why(page, "before you change how you sign in")
    wrong = await app.browser.log_in(page, password="wrong")
    assert_says_why(wrong, "before you change how you sign in")
    assert (await app.browser.get(wrong.element("cancel")["href"] or "")).path == SECURITY
    assert (await app.browser.log_in(wrong)).path == ADD


async def test_page_that_is_asked_for_while_signing_in_says_why_and_leads_back_to_the_client(
    service: RunningService, browser: Browser, app: ClientApp
) -> None:
    await app.login()
    consenting = ClientApp(service, browser, "consenting")
    page = await consenting.authorize()
    assert_says_why(page, "before you change how you sign in")
    assert (await browser.log_in(page)).path == ADD
    page = await browser.get(page.url)
    cancelled = await browser.submit(page, action="cancel")
    assert cancelled.error == "access_denied"


async def test_page_that_is_asked_for_before_a_request_is_answered_says_why(
    app: ClientApp, clock: Clock
) -> None:
    await app.login()
    clock.forward(minutes=11)
    auth_req_id = await Device(app.service).begin()
    page = await app.browser.get(f"/account/requests/{ref_of(auth_req_id)}")
    assert_says_why(page, "before you answer the request")
    cancelled = await app.browser.get(page.element("cancel")["href"] or "")
    assert cancelled.path == "/account/requests"


@pytest.mark.parametrize("path", ["/account/login", f"/account/login?return_to={ADD}"])
async def test_page_is_a_usual_login_for_a_user_who_is_not_known(
    browser: Browser, path: str
) -> None:
    page = await browser.get(path)
    assert (page.has("verifying"), page.element("username")["value"]) == (False, "")


async def test_page_for_another_account_does_not_ask_for_the_name(app: ClientApp) -> None:
    await app.login()
    page = await app.authorize(prompt="select_account")
    other = await app.browser.submit(page, action="other")
    assert (other.path, other.has("verifying")) == ("/account/login", False)


async def test_page_after_the_password_alone_does_not_ask_for_the_name(
    app: ClientApp, phone: Phone
) -> None:
    half = await app.login()
    assert half.has("otp"), phone
    login = await app.browser.get(half.url.replace("second-factor", "login"))
    assert (login.has("verifying"), login.element("username")["value"]) == (False, "")
