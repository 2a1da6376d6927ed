"""An operator signs in at the console with a real browser, looks up a user, and ends a session (WCAG 2.2 §2.1.1, CSP3)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser, Page, ViewportSize

from tests.driving.chromium import CHROMIUM
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService

pytestmark = pytest.mark.needs(CHROMIUM)


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    configuration["admin"] = {"url": "http://127.0.0.1:0", "writers": [{"sub": ["818727"]}]}
    return configuration


@pytest.fixture(params=[True, False], ids=["with JavaScript", "without JavaScript"])
async def page(request: pytest.FixtureRequest, chromium: Browser) -> AsyncIterator[Page]:
    """A window of which the browser's console has nothing to say."""
    context = await chromium.new_context(
        viewport=ViewportSize(width=1280, height=900),
        locale="en",
        java_script_enabled=request.param,
    )
    page, complaints = await context.new_page(), list[str]()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    await context.close()
    assert complaints == []


async def test_operator_ends_the_own_session_and_is_signed_out(
    service: RunningService, page: Page
) -> None:
    console = str(service.admin_url)
    await page.goto(f"{console}/users")
    await page.fill("#username", "alice")
    await page.fill("#password", "alice-password")
    await page.click("#login")
    await page.select_option("#by", "username")
    await page.fill("#text", "alice")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("[data-session]")
    await page.click("[data-change=end-session]")
    assert await page.inner_text("h1") == "End this session?"
    await page.click("#do-it")
    await page.wait_for_url(f"{console}/signed-out")  # the session was the operator's own
    assert await service.features.shared.sessions.find_all_of("818727") == ()


async def test_operator_signs_out_by_the_keyboard(service: RunningService, page: Page) -> None:
    console = str(service.admin_url)
    await page.goto(console)
    await page.fill("#username", "alice")
    await page.fill("#password", "alice-password")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("#registry-panel")
    await page.focus("#sign-out")
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{console}/signed-out")
    await page.goto(f"{console}/clients")
    assert page.url.startswith(f"{service.issuer}/account/login")
