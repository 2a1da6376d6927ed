"""Somebody in front of a real browser: signs in where asked, allows where asked, and says where it ended."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Page

from tests.driving.chromium import headless_chromium

ARRIVED = "#arrived"
"""What every page of a client has, with what was posted to it."""
ENDED = "#error, body:has(#logout-success):not(:has(#logout-continue))"
"""Pages of the service after which nothing comes: a refusal, or goodbye."""
ASKED = "#login, #consent-allow, #logout-confirm"
"""The buttons that the service asks to be pressed; the ids are promised to whoever automates."""
PATIENCE = 20_000


@dataclass(frozen=True)
class Person:
    """Alice, with a browser window of her own."""

    page: Page

    async def visit(self, url: str, *, cancelling: bool = False) -> dict[str, Any]:
        """Open a URL, do what is asked there, and tell the URL and the form that the client got."""
        await self.page.goto(url)
        while (button := await self._asked_for()) is not None:
            await self.press("#cancel" if cancelling else button)
        form = await self._posted() if await self.page.locator(ARRIVED).count() else {}
        return {"url": self.page.url, "form": form}

    async def press(self, button: str) -> None:
        """Press a button of the service, after filling in what belongs to it; wait for the next page."""
        if button == "#login":
            await self.page.fill("#username", "alice")
            await self.page.fill("#password", "alice")
        async with self.page.expect_navigation(wait_until="commit", timeout=PATIENCE):
            await self.page.click(button)

    async def _asked_for(self) -> str | None:
        """The button to be pressed, or none where the journey has ended."""
        anything = f"{ARRIVED}, {ENDED}, {ASKED}"
        element = await self.page.wait_for_selector(anything, state="attached", timeout=PATIENCE)
        name = f"#{await element.get_attribute('id')}" if element else ""
        return name if name in ASKED.split(", ") else None

    async def _posted(self) -> dict[str, str]:
        """The fields of a form_post answer, which the client's page shows."""
        posted: dict[str, str] = json.loads(await self.page.inner_text(ARRIVED))
        return posted


@asynccontextmanager
async def a_person() -> AsyncIterator[Person]:
    """Somebody with a browser that nobody else uses."""
    async with headless_chromium() as browser:
        yield Person(await browser.new_page(locale="en"))
