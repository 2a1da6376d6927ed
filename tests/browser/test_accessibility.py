"""Every page passes axe-core, in both colour schemes and both directions of text (WCAG 2.2 AA)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import web
from playwright.async_api import Browser as Chromium
from playwright.async_api import Page

from service.pages.templates import BUILT_IN
from tests.driving.chromium import CHROMIUM
from tests.pages.screens import PASSKEY, SCREENS, Browser

pytestmark = pytest.mark.needs(CHROMIUM)

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RUN = """() => axe.run({ preload: false, resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`)))"""

FURTHER: dict[str, dict[str, Any]] = {
    "not_found.html": {},
    "form_post.html": {"redirect_uri": "https://web.example/callback", "fields": {"code": "c"}},
    "demonstration.html": {
        "people": [{"user": {"username": "alice", "claims": {}}, "sign_in": "/account"}],
        "clients": [],
        "error": "access_denied",
        "steps": [],
    },
}
"""The pages that are no screens of a sign-in."""
VARIANTS: dict[str, dict[str, Any]] = {
    "second_factor.html with a code": SCREENS["second_factor.html"] | {"method": "otp"},
    "second_factor.html with a recovery code": SCREENS["second_factor.html"]
    | {"method": "recovery_code"},
    "second_factor.html without any": SCREENS["second_factor.html"]
    | {"method": None, "others": [], "error": None},
    "add_factor.html with a passkey": SCREENS["add_factor.html"]
    | {"method": "passkey", "form": {"options": PASSKEY}},
}
"""Pages that show something else, each under its template and what that is."""
SHOWN = SCREENS | FURTHER | VARIANTS


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
        return screens.pages.render(request, name.split()[0], context=SHOWN[name])

    screens.app.add_routes([web.get("/pages/{name}", show)])
    runner = web.AppRunner(screens.app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    (address,) = runner.addresses
    yield f"http://127.0.0.1:{address[1]}/pages/"
    await runner.cleanup()


@pytest.fixture
async def page(chromium: Chromium) -> AsyncIterator[Page]:
    """A window that asks nobody else for anything."""
    context = await chromium.new_context()
    page = await context.new_page()
    await page.route("https://**", lambda route: route.abort())
    yield page
    await context.close()


def test_every_page_is_looked_at() -> None:
    """Every template that is a page of its own, and no part of one."""
    texts = {file.name: file.read_text() for file in BUILT_IN.glob("*.html")}
    assert {name.split()[0] for name in SHOWN} == {
        name for name, text in texts.items() if '{% extends "base.html"' in text
    }


async def test_axe_finds_what_is_wrong(page: Page) -> None:
    await page.set_content('<main lang="en"><img src="data:,"></main>')
    await page.evaluate(AXE)
    assert any(one.startswith("image-alt: ") for one in await page.evaluate(RUN))


LINKED = {"links": {"help": "https://op.example/help"}}


@pytest.mark.parametrize(
    ("language", "scheme", "ui"),
    [
        ("en", "light", {}),
        ("ar", "dark", {}),
        ("en", "light", {"accent": "navy", "background": "#204080", **LINKED}),
        ("en", "dark", {"accent": "#ffcc00", "background": "#fffbe6", **LINKED}),
    ],
    ids=["left-light", "right-dark", "own colours, light", "own colours, dark"],
)
async def test_axe_finds_nothing_on_any_page(
    pages: str, page: Page, language: str, scheme: Any
) -> None:
    await page.emulate_media(color_scheme=scheme)
    found: dict[str, list[str]] = {}
    for name in SHOWN:
        answer = await page.goto(f"{pages}{quote(name)}?language={language}")
        assert answer is not None
        assert answer.ok, name
        await page.evaluate(AXE)
        found[name] = await page.evaluate(RUN)
    assert {name: violations for name, violations in found.items() if violations} == {}
