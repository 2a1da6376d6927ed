"""Every page of the admin console passes axe-core in both colour schemes, and fits a phone (WCAG 2.2 AA, §1.4.10)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from playwright.async_api import Browser as Chromium
from playwright.async_api import ViewportSize

from service.web.pages.looks import BUILT_IN
from tests.admin.console.screens import SCREENS, SHARED
from tests.browser.test_accessibility import judge
from tests.driving.chromium import CHROMIUM
from tests.driving.listening import serving
from tests.pages.screens import Browser

pytestmark = pytest.mark.needs(CHROMIUM)

PARTS = {"base", "parts"}
FIND_TOO_WIDE = """(textSize) => {
    document.documentElement.style.fontSize = textSize
    const wide = document.documentElement.clientWidth + .5, hidden = "thead, thead *, .visually-hidden"
    return [...document.querySelectorAll("body *")]
        .filter(each => each.getClientRects().length && !each.matches(hidden))
        .filter(each => each.getBoundingClientRect().left < -.5 || each.getBoundingClientRect().right > wide)
        .map(each => each.outerHTML.slice(0, 100))
}"""


@pytest.fixture
async def pages() -> AsyncIterator[str]:
    """A server of every page of the console; its URL."""
    screens = Browser(issuer="http://localhost", locales=["en"], accent="navy")

    async def show(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        context = SHARED | SCREENS[name]
        return screens.pages.render(request, f"admin/{name}.html", context=context).for_aiohttp()

    screens.app.add_routes([web.get("/pages/{name}", show)])
    async with serving(screens.app) as origin:
        yield f"{origin}/pages/"


def test_every_page_of_the_console_is_looked_at() -> None:
    assert {file.stem for file in (BUILT_IN / "admin").glob("*.html")} - PARTS == set(SCREENS)


async def test_axe_finds_nothing_on_any_page_of_the_console(pages: str, chromium: Chromium) -> None:
    context = await chromium.new_context(reduced_motion="reduce")
    page, found = await context.new_page(), {}
    for name in SCREENS:
        answer = await page.goto(pages + name)
        assert answer is not None
        assert answer.ok, name
        if violations := await judge(page, "light", "dark"):
            found[name] = violations
    assert found == {}


@pytest.mark.parametrize(("width", "text_size"), [(320, "100%"), (360, "200%"), (1280, "100%")])
async def test_no_page_of_the_console_is_wider_than_its_window(
    pages: str, chromium: Chromium, width: int, text_size: str
) -> None:
    page = await chromium.new_page(viewport=ViewportSize(width=width, height=3000))
    for name in SCREENS:
        await page.goto(pages + name)
        assert await page.evaluate(FIND_TOO_WIDE, text_size) == [], name


async def test_the_first_tab_leads_past_the_navigation(pages: str, chromium: Chromium) -> None:
    page = await chromium.new_page()
    await page.goto(f"{pages}overview")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.closest('main') !== null")


async def test_boxes_of_the_picture_are_reached_by_the_keyboard(
    pages: str, chromium: Chromium
) -> None:
    page = await chromium.new_page()
    await page.goto(f"{pages}clients")
    await page.focus(".search button")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.getAttribute('href')") == "/client?id=shop"
