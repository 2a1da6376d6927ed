"""The requirements of an application of a guide: it signs a person in, shows the name, and signs out (OIDC Core §3.1, RP-Initiated Logout)."""

from __future__ import annotations

from playwright.async_api import Page

from tests.driving.chromium import headless_chromium
from tests.guides.site import Site
from tests.interop.steps import Steps

PATIENCE = 120_000


async def check(site: Site, steps: Steps, *, start: str = "/", subject: str = "818727") -> None:
    """Open the application in a browser without any session; it shows the name, and the subject unless that is empty."""
    async with headless_chromium() as browser:
        page = await (await browser.new_context(locale="en")).new_page()
        page.set_default_timeout(PATIENCE)
        with steps.step("a person is sent to sign in, and comes back as who they are"):
            await page.goto(f"{site.url('3000')}{start}")
            await reach_login(page)
            await sign_in(page)
            await page.wait_for_url(f"{site.url('3000')}/**")
            text = await page.inner_text("body")
            assert subject in text, text
            assert "Alice Smith" in text, text
        with steps.step("the application knows the person from then on"):
            await page.goto(f"{site.url('3000')}/")
            assert "Alice Smith" in await page.inner_text("body")
        with steps.step("after a sign-out the service asks for the password again"):
            await page.goto(f"{site.url('3000')}/logout")
            if start != "/":
                await page.wait_for_url(f"{site.url('3000')}/**")
                await page.goto(f"{site.url('3000')}{start}")
            await reach_login(page)


async def reach_login(page: Page) -> None:
    """Click what the application asks for until the service shows its login page."""
    login, button = page.locator("#username"), page.locator("form button, form [type=submit]")
    await login.or_(button).first.wait_for()
    while not await login.count():
        async with page.expect_navigation():
            await button.first.click()
        await login.or_(button).first.wait_for()


async def sign_in(page: Page) -> None:
    """Answer the service's pages as Alice."""
    await page.fill("#username", "alice")
    await page.fill("#password", "alice")
    await page.click("#login")
    if await page.locator("#consent-allow").count():
        await page.click("#consent-allow")
