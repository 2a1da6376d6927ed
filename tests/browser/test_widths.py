"""A page is as wide as the smallest screen, in every language, and on a phone with text of twice the size (WCAG 2.2 §1.4.4, §1.4.10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from playwright.async_api import Browser as Chromium
from playwright.async_api import ViewportSize

from tests.driving.chromium import CHROMIUM
from tests.pages.screens import CLIENT, LANGUAGES, PAGES, Browser

pytestmark = pytest.mark.needs(CHROMIUM)

SMALLEST = ViewportSize(width=320, height=2000)
PHONE = ViewportSize(width=360, height=9000)  # so high that no page has a scroll bar
LOGO = "/static/icon.svg"
"""In place of a logo of another host, which Chromium would look for on each page."""
# All pages have the same style, so one document shows them one after the other: hundreds of documents take ten times as long.
FIND_CUT_OFF = """async ([pages, textSize]) => {
    document.documentElement.style.fontSize = textSize
    const styles = page => [...page.querySelectorAll("style, link[rel=stylesheet]")].map(each => each.outerHTML).join()
    const run = script => new Promise((onload, onerror) => {
        document.body.append(Object.assign(document.createElement("script"), {src: script.src, onload, onerror}))
    })
    const show = async page => {
        for (const name of ["lang", "dir"]) document.documentElement[name] = page.documentElement[name]
        document.body.replaceWith(page.body)
        await Promise.all([...document.images].map(each => each.decode()))
        for (const script of page.querySelectorAll("script[src]")) await run(script)
        for (const each of document.querySelectorAll("details")) each.open = true
    }
    const found = [], wide = document.documentElement.clientWidth + .5, style = styles(document)
    for (const [name, text] of pages) {
        const page = new DOMParser().parseFromString(text, "text/html")
        if (styles(page) !== style) found.push(`${name}: has a style of its own, and needs a document of its own here`)
        await show(page)
        found.push(...[...document.querySelectorAll("body *")]
            .filter(each => each.getClientRects().length)
            .filter(each => each.getBoundingClientRect().left < -.5 || each.getBoundingClientRect().right > wide
                || each.localName !== "input" && getComputedStyle(each).overflowX !== "visible" && each.scrollWidth > each.clientWidth)
            .map(each => `${name}: ${each.outerHTML.slice(0, 100)}`))
    }
    return found
}"""


@pytest.mark.parametrize(
    ("viewport", "text_size"),
    [(SMALLEST, "100%"), (PHONE, "200%")],
    ids=["at 320 pixels", "on a phone with large text"],
)
async def test_no_page_is_wider_or_cut_off_in_any_language(
    chromium: Chromium,
    aiohttp_client: Callable[..., Any],
    viewport: ViewportSize,
    text_size: str,
) -> None:
    shown = Browser(title="An unusually-long-name-without-spaces Ltd", issuer="http://op.example")
    pages = [
        (f"{name} {language}", page.replace(CLIENT.logo_uri, LOGO))
        for name, context in PAGES.items()
        for language in LANGUAGES
        if (page := shown.sees(name.split()[0], accept=language, **context).text)
    ]

    async def show_first(_: web.Request) -> web.Response:
        return web.Response(text=pages[0][1], content_type="text/html")

    shown.app.router.add_get("/first", show_first)
    client = await aiohttp_client(shown.app)
    window = await chromium.new_page(viewport=viewport)
    await window.goto(str(client.make_url("/first")))
    assert await window.evaluate(FIND_CUT_OFF, [pages, text_size]) == []
