"""A real browser in front of an https issuer whose TLS a proxy ends: cookies with the `__Host-` prefix (RFC 6265bis §4.1.3)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Page

from tests.browser.tls import behind_tls
from tests.conftest import Start
from tests.driving.chromium import CHROMIUM
from tests.driving.registry import fresh_configuration

pytestmark = pytest.mark.needs(CHROMIUM)


@pytest.fixture
async def issuer(start: Start, tmp_path: Path) -> AsyncIterator[str]:
    """The published URL of a service behind a proxy that ends TLS."""
    async with behind_tls(start, tmp_path, fresh_configuration()) as issuer:
        yield issuer


@pytest.fixture
async def page(chromium: Browser) -> AsyncIterator[Page]:
    """A window that puts up with the certificate."""
    context = await chromium.new_context(ignore_https_errors=True)
    yield await context.new_page()
    await context.close()


@pytest.mark.rfc("6265#4.1.2")
async def test_a_person_stays_signed_in_by_secure_cookies(page: Page, issuer: str) -> None:
    await page.goto(f"{issuer}/account")
    await page.fill("#username", "alice")
    await page.fill("#password", "alice-password")
    await page.check("#remember")
    await page.click("#login")
    assert await page.inner_text("h1") == "Your account"
    port = f"_{urlsplit(issuer).port}"
    cookies: dict[str, Any] = {
        cookie["name"].removesuffix(port): cookie for cookie in await page.context.cookies()
    }
    state = cookies.pop("__Host-browser_state")  # which the session-management frame reads
    assert (state["secure"], state["httpOnly"], state["sameSite"]) == (True, False, "None")
    assert set(cookies) == {"__Host-sid", "__Host-browser"}
    assert all(cookie["secure"] and cookie["httpOnly"] for cookie in cookies.values())
    assert {cookie["sameSite"] for cookie in cookies.values()} == {"Lax"}
    assert cookies["__Host-browser"]["expires"] == -1
    assert cookies["__Host-sid"]["expires"] > datetime.now(UTC).timestamp() + 29 * 24 * 3600


async def test_signing_out_takes_the_cookie_away(page: Page, issuer: str) -> None:
    await page.goto(f"{issuer}/account")
    await page.fill("#username", "alice")
    await page.fill("#password", "alice-password")
    await page.click("#login")
    await page.click("#logout")
    await page.click("#logout-confirm")
    await page.wait_for_selector("#logout-success")
    left = [cookie["name"] for cookie in await page.context.cookies()]
    assert left == [f"__Host-browser_{urlsplit(issuer).port}"]
