"""Reading and using the account page."""

from __future__ import annotations

from tests.driving.browser import Browser, Page


async def account(browser: Browser) -> Page:
    """The page, or where the browser is sent instead."""
    return await browser.get("/account")


def sessions_on(page: Page) -> list[str]:
    """The ids of the sessions that the page lists."""
    return _values(page, "session")


def clients_on(page: Page) -> list[str]:
    """The ids of the clients that the page lists."""
    return _values(page, "client_id")


async def end_session(browser: Browser, sid: str) -> Page:
    """Press the button `End` of a session, shown or not."""
    page = await account(browser)
    return await browser.submit(page, session=sid, action="end-session")


async def revoke(browser: Browser, client_id: str) -> Page:
    """Press the button `Remove access` of a client, shown or not."""
    page = await account(browser)
    return await browser.submit(page, session=None, client_id=client_id, action="revoke")


def _values(page: Page, field: str) -> list[str]:
    return [value for form in page.forms for name, value in form.fields if name == field]
