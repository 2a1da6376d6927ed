"""Every page passes axe-core, in both colour schemes and both directions of text (WCAG 2.2 AA)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from importlib.resources import files
from typing import Any, Literal
from urllib.parse import quote

import pytest
from aiohttp import web
from playwright.async_api import Browser as Chromium
from playwright.async_api import Page

from service.web.pages.looks import BUILT_IN
from tests.driving.chromium import CHROMIUM
from tests.driving.listening import serving
from tests.pages.screens import PAGES, Browser

pytestmark = pytest.mark.needs(CHROMIUM)

Scheme = Literal["light", "dark"]
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RUN = """(runOnly) => axe.run({ preload: false, resultTypes: ['violations'], ...runOnly && { runOnly } }).then(
    ({ violations }) => violations.flatMap(
        ({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`)))"""
COLOUR_RULES = ["color-contrast", "link-in-text-block"]
"""All that may differ between the colours of one page; they are the same in both directions of text."""


@pytest.fixture
def ui() -> dict[str, Any]:
    """The operator's look."""
    return {}


@pytest.fixture
async def pages(ui: dict[str, Any]) -> AsyncIterator[str]:
    """A server of every page, as it is with what it may be shown; its URL."""
    screens = Browser(issuer="http://localhost", **ui)

    async def show(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        page = screens.pages.render(request, name.split()[0], context=PAGES[name])
        return page.for_aiohttp()

    screens.app.add_routes([web.get("/pages/{name}", show)])
    async with serving(screens.app) as origin:
        yield f"{origin}/pages/"


@pytest.fixture
async def page(chromium: Chromium) -> AsyncIterator[Page]:
    """A window that asks nobody else for anything, and shows colours at once."""
    context = await chromium.new_context(reduced_motion="reduce")
    page = await context.new_page()
    await page.route("https://**", lambda route: route.abort())
    yield page
    await context.close()


def test_every_page_is_looked_at() -> None:
    """Every template that is a page of its own, and no part of one."""
    texts = {file.name: file.read_text() for file in BUILT_IN.glob("*.html")}
    assert {name.split()[0] for name in PAGES} == {
        name for name, text in texts.items() if '{% extends "base.html"' in text
    }


async def judge(page: Page, *schemes: Scheme) -> list[str]:
    """Return what axe finds in the page as it is loaded: light by all rules, dark by those of colours."""
    await page.evaluate(AXE)
    found: list[str] = []
    for scheme in schemes:
        await page.emulate_media(color_scheme=scheme)
        rules = COLOUR_RULES if scheme == "dark" else None
        found += [f"{scheme}: {one}" for one in await page.evaluate(RUN, rules)]
    return found


async def test_axe_finds_what_is_wrong(page: Page) -> None:
    style = ":root { color-scheme: light dark; color: light-dark(#222, #333); background: light-dark(#fff, #000) }"
    await page.set_content(f'<style>{style}</style><h1>Grey</h1><img src="data:,">')
    found = {":".join(one.split(":")[:2]) for one in await judge(page, "light", "dark")}
    assert {"light: image-alt", "dark: color-contrast"} <= found
    assert "light: color-contrast" not in found


BOTH = ("light", "dark")
LINKED = {"links": {"help": "https://op.example/help"}}


@pytest.mark.parametrize(
    ("language", "schemes", "ui"),
    [
        ("en", BOTH, {}),
        ("ar", BOTH, {"accent": "navy", "background": "#204080", **LINKED}),
        ("en", ["dark"], {"accent": "#ffcc00", "background": "#fffbe6", **LINKED}),
    ],
    ids=["left to right", "right to left in own colours", "own colours for dark pages"],
)
async def test_axe_finds_nothing_on_any_page(
    pages: str, page: Page, language: str, schemes: Iterable[Scheme]
) -> None:
    found: dict[str, list[str]] = {}
    for name in PAGES:
        answer = await page.goto(f"{pages}{quote(name)}?language={language}")
        assert answer is not None
        assert answer.ok, name
        found[name] = await judge(page, *schemes)
    assert {name: violations for name, violations in found.items() if violations} == {}


STYLE_OF = """([selector, part]) => {
    const { color, opacity } = getComputedStyle(document.querySelector(selector), part)
    return [color, opacity]
}"""


async def test_placeholder_looks_like_other_quiet_text(pages: str, page: Page) -> None:
    """axe does not look at placeholders."""
    await page.goto(f"{pages}device.html")
    placeholder = await page.evaluate(STYLE_OF, ["#user_code", "::placeholder"])
    assert placeholder == await page.evaluate(STYLE_OF, [".lead", None])
