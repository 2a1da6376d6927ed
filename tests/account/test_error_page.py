"""/account/error has an address of its own."""

from __future__ import annotations

from tests.driving.browser import Browser


async def test_the_error_page_can_be_opened_by_itself(browser: Browser) -> None:
    page = await browser.get("/account/error")
    assert (page.status, page.error) == (400, "invalid_request")
