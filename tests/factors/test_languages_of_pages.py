"""The pages of second factors in another language are about the same method, after the same sign-in (RFC 9110 §12.5.4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.factors.conftest import PATH
from tests.factors.test_enrolment import ADD, SECURITY
from tests.factors.test_enrolment_at_login import with_mfa
from tests.sessions.test_choosing_a_language import choose

pytestmark = pytest.mark.rfc("9110#12.5.4")


@pytest.fixture
def config(request: pytest.FixtureRequest) -> dict[str, Any]:
    return fresh_configuration() | getattr(request, "param", {})


@with_mfa(required="always", enrolment="at_login")
async def test_enrolment_while_signing_in_goes_on_in_another_language(app: ClientApp) -> None:
    page = await choose(app.browser, await app.login(), "de")
    assert (page.path, page.lang, page.has("totp-secret")) == (ADD, "de", True)


@pytest.mark.parametrize("path", [SECURITY, f"{ADD}?method=passkey"])
async def test_enrolment_at_the_account_goes_on_in_another_language(
    browser: Browser, path: str
) -> None:
    page = await browser.log_in(await browser.get(path))
    page = await choose(browser, page, "de")
    assert (page.path, page.lang) == (path.partition("?")[0], "de")
    assert page.has("add-passkey")


async def test_chosen_method_is_shown_in_another_language(browser: Browser, half: Page) -> None:
    page = await browser.get(half.url + "&method=recovery_code")
    page = await choose(browser, page, "de")
    assert (page.path, page.lang, page.has("recovery-code")) == (PATH, "de", True)
