"""A page is as wide as the smallest screen, in every language (WCAG 2.2 §1.4.10)."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import pytest
from aiohttp import web
from playwright.async_api import Browser as Chromium

from tests.driving.chromium import CHROMIUM
from tests.pages.screens import LANGUAGES, SCREENS, VARIANTS, Browser

pytestmark = pytest.mark.needs(CHROMIUM)

FIND_CUT_OFF = """frames => frames.flatMap(frame => {
    const page = frame.contentDocument, wide = frame.clientWidth + .5
    for (const each of page.querySelectorAll("details")) each.open = true
    return [...page.querySelectorAll("body *")]
        .filter(each => each.getClientRects().length)
        .filter(each => each.getBoundingClientRect().left < -.5 || each.getBoundingClientRect().right > wide
            || each.localName !== "input" && getComputedStyle(each).overflowX !== "visible" && each.scrollWidth > each.clientWidth)
        .map(each => `${frame.title}: ${each.outerHTML.slice(0, 100)}`)
})"""


async def test_no_page_is_wider_or_cut_off_at_320_pixels_in_any_language(
    chromium: Chromium, aiohttp_client: Callable[..., Any]
) -> None:
    shown = Browser(title="An unusually-long-name-without-spaces Ltd", issuer="http://op.example")
    frames = "".join(
        f'<iframe width="320" height="2000" title="{name} {language}" srcdoc="{escape(page)}"></iframe>'
        for name, context in (SCREENS | VARIANTS).items()
        for language in LANGUAGES
        if (page := shown.sees(name.split()[0], accept=language, **context).text)
    )

    async def show_all(_: web.Request) -> web.Response:
        return web.Response(text=f"<!doctype html>{frames}", content_type="text/html")

    shown.app.router.add_get("/all", show_all)
    client = await aiohttp_client(shown.app)
    window = await chromium.new_page()
    await window.goto(str(client.make_url("/all")), timeout=120_000)  # hundreds of pages at once
    assert await window.locator("iframe").evaluate_all(FIND_CUT_OFF) == []
