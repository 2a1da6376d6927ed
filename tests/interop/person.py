"""Somebody in front of a real browser: signs in where asked, allows where asked, and says where it ended."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from playwright.async_api import Page

from tests.driving.chromium import headless_chromium

ARRIVED = "#arrived"
"""What every page of a client has, with what the client has to tell, as JSON."""
ENDED = "#error, #request-done, #device-done, body:has(#logout-success):not(:has(#logout-continue))"
"""Pages of the service after which nothing comes: a refusal, an answer to a device or to CIBA, or goodbye."""
CLOSED = ".close-instruction"
"""The page of FastMCP's client, after which nothing comes either."""
ASKED = "#login, #consent-allow, #device-allow, #request-allow, #logout-confirm"
"""The buttons that the service asks to be pressed; the ids are promised to whoever automates."""
PATIENCE = 60_000


class Arrival(NamedTuple):
    """The last place of a browser: the URL, and the text of the client's page (such as the posted form)."""

    url: str
    content: dict[str, Any]


@dataclass(frozen=True)
class Person:
    """Alice, with a browser window of her own."""

    page: Page

    async def visit(self, url: str, *, cancelling: bool = False) -> Arrival:
        """Open a URL, do what is asked there, and tell where that led."""
        await self.page.goto(url)
        return await self.arrive(cancelling=cancelling)

    async def arrive(self, *, cancelling: bool = False) -> Arrival:
        """Answer the service's pages, until a client's page comes or nothing more, frames and all."""
        while (button := await self._asked_for()) is not None:
            await self.press("#cancel" if cancelling else button)
        await self.page.wait_for_load_state()
        shown = self.page.locator(ARRIVED)
        content = json.loads(await shown.inner_text()) if await shown.count() else {}
        return Arrival(self.page.url, content)

    async def press(self, button: str) -> None:
        """Press a button, after filling in what belongs to it, and wait for the next page."""
        if button == "#login":
            await self.page.fill("#username", "alice")
            await self.page.fill("#password", "alice")
        async with self.page.expect_navigation(wait_until="commit", timeout=PATIENCE):
            await self.page.click(button)

    async def _asked_for(self) -> str | None:
        """The button to be pressed, or none where the journey has ended."""
        anything = f"{ARRIVED}, {ENDED}, {CLOSED}, {ASKED}"
        element = await self.page.wait_for_selector(anything, state="attached", timeout=PATIENCE)
        name = f"#{await element.get_attribute('id')}" if element else ""
        return name if name in ASKED.split(", ") else None


@asynccontextmanager
async def a_person() -> AsyncIterator[Person]:
    """Somebody with a browser that nobody else uses."""
    async with headless_chromium() as browser:
        context = await browser.new_context(locale="en")
        yield Person(await context.new_page())
