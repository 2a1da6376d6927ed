"""The service's own address leads a person somewhere."""

from __future__ import annotations

from tests.driving.browser import Browser


async def test_the_service_s_address_leads_to_the_own_account(browser: Browser) -> None:
    page = await browser.get("/")
    assert page.path == "/account/login"
