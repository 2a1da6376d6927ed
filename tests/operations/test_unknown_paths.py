"""An unknown path is a page for people and JSON for programs; browsers find an icon, password managers a page."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.browser import Browser
from tests.driving.service import RunningService

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Accept-Language": "de"}
CHANGE_PASSWORD = "/.well-known/change-password"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "ui": {"locales": ["en", "de"]}}


async def test_an_unknown_path_is_a_page_for_a_browser(browser: Browser) -> None:
    page = await browser.get("/no-such-page", headers=HTML)
    assert (page.status, page.lang) == (404, "de")
    assert page.element("home")["href"] == "/"
    assert 'class="mark"' in page.text
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


async def test_a_page_of_an_unknown_path_repeats_nothing(browser: Browser) -> None:
    page = await browser.get("/no-such-page?q=<b>repeated</b>", headers=HTML)
    assert "repeated" not in page.text
    assert "no-such-page" not in page.text


@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
async def test_an_unknown_path_is_json_for_a_program(service: RunningService, accept: str) -> None:
    async with service.http.get(
        f"{service.issuer}/no-such-page", headers={"Accept": accept}
    ) as answer:
        assert (answer.status, (await answer.json())["error"]) == (404, "invalid_request")


async def test_a_wrong_method_is_json_for_a_browser_too(service: RunningService) -> None:
    async with service.http.get(f"{service.issuer}/connect/token", headers=HTML) as answer:
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")
        assert answer.content_type == "application/json"


async def test_a_browser_finds_an_icon_without_a_page(service: RunningService) -> None:
    async with service.http.get(f"{service.issuer}/favicon.ico") as answer:
        assert (answer.status, answer.content_type) == (200, "image/svg+xml")
        assert answer.headers["Cache-Control"] == "public, max-age=86400"


async def test_no_link_leaves_the_change_password_path_unknown(service: RunningService) -> None:
    async with service.http.get(f"{service.issuer}{CHANGE_PASSWORD}") as answer:
        assert answer.status == 404


async def test_a_link_for_changing_the_password_comes_first(
    config: dict[str, Any], start: Any
) -> None:
    links = {
        "forgot_password": "https://example.com/lost",
        "change_password": "https://example.com/new",
    }
    config["ui"]["links"] = links
    service = await start(config)
    answer = await service.get(CHANGE_PASSWORD)
    assert (answer.status, answer.headers["Location"]) == (303, "https://example.com/new")


async def test_a_link_is_where_password_managers_are_sent(
    config: dict[str, Any], start: Any
) -> None:
    config["ui"]["links"] = {"forgot_password": "https://example.com/password"}
    service = await start(config)
    async with service.http.get(
        f"{service.issuer}{CHANGE_PASSWORD}", allow_redirects=False
    ) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, "https://example.com/password")
