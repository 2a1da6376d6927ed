"""Acts as a reader in the browser with the sign-in link of the documentation."""

from __future__ import annotations

from tests.driving.browser import Browser
from tests.driving.process import DEMONSTRATION


async def code_at(browser: Browser, link: str) -> str:
    """Open the link, sign in as alice, allow everything; the code in the address bar at the end."""
    here = browser.issuer.removeprefix("http://")
    page = await browser.get(link.strip().replace(DEMONSTRATION, here))
    page = await browser.log_in(page, password="alice")
    if page.has("consent-allow"):
        page = await browser.submit(page, action="allow")
    assert (page.path, page.status) == ("/account", 200)
    return page.parameters["code"]
