"""The requirements of an application of a guide: it signs a person in and shows the name (OIDC Core §3.1)."""

from __future__ import annotations

from playwright.async_api import Page

from tests.driving.chromium import headless_chromium
from tests.guides.site import Site
from tests.interop.steps import Steps

PATIENCE = 120_000


async def check(site: Site, steps: Steps) -> None:
    """Open the application in a browser without any session."""
    async with headless_chromium() as browser:
        page = await (await browser.new_context(locale="en")).new_page()
        page.set_default_timeout(PATIENCE)
        with steps.step("a person is sent to sign in, and comes back as who they are"):
            await page.goto(f"{site.url('3000')}/")
            await sign_in(page)
            await page.wait_for_url(f"{site.url('3000')}/**")
            text = await page.inner_text("body")
            assert "818727" in text, text
            assert "Alice Smith" in text, text
        with steps.step("the application knows the person from then on"):
            await page.goto(f"{site.url('3000')}/")
            assert "818727" in await page.inner_text("body")


async def sign_in(page: Page) -> None:
    """Answer the service's pages as Alice."""
    await page.fill("#username", "alice")
    await page.fill("#password", "alice")
    await page.click("#login")
    if await page.locator("#consent-allow").count():
        await page.click("#consent-allow")
