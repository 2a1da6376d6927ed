"""A person chooses the language of the pages, without JavaScript and without losing the request that waits (RFC 9110 §12.5.4)."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import urljoin

import pytest

from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp

pytestmark = pytest.mark.rfc("9110#12.5.4")


async def choose(browser: Browser, page: Page, tag: str, **options: Any) -> Page:
    """Follow the link to the page in another language."""
    (href,) = re.findall(rf'<a href="([^"]+)" lang="{tag}"', page.text)
    return await browser.get(urljoin(page.url, unescape(href)), **options)


async def test_the_login_page_is_shown_in_the_chosen_language(app: ClientApp) -> None:
    page = await choose(app.browser, await app.authorize(), "de")
    assert (page.lang, page.has("cancel")) == ("de", True)
    page = await app.browser.log_in(page)
    assert "code" in page.parameters


async def test_the_pages_that_follow_are_in_the_chosen_language(app: ClientApp) -> None:
    page = await choose(
        app.browser, await app.authorize(ui_locales="en", prompt="login consent"), "fr"
    )
    page = await app.browser.log_in(page, password="wrong")
    assert page.lang == "fr"
    page = await app.browser.log_in(page)
    assert (page.has("consent-allow"), page.lang) == (True, "fr")


async def test_the_choice_counts_more_than_the_next_requests_wish(app: ClientApp) -> None:
    await choose(app.browser, await app.authorize(), "es")
    assert (await app.authorize(ui_locales="de")).lang == "es"
    assert (await app.browser.get("/account/error")).lang == "es"


async def test_a_page_after_a_wrong_password_leads_to_the_same_request(app: ClientApp) -> None:
    page = await app.browser.log_in(await app.authorize(), password="wrong")
    page = await choose(app.browser, page, "de")
    assert "code" in (await app.browser.log_in(page)).parameters


async def test_a_choice_that_is_answered_by_a_redirect_is_remembered(browser: Browser) -> None:
    page = await browser.get("/account?language=de")
    assert (page.path, page.lang) == ("/account/login", "de")


async def test_a_refusal_is_shown_in_the_chosen_language(app: ClientApp) -> None:
    refused = await app.authorize(redirect_uri="https://elsewhere.example", login_hint="secret")
    page = await choose(app.browser, refused, "de")
    assert (page.lang, page.status, page.error) == ("de", refused.status, refused.error)
    assert page.text_of("error-description") == refused.text_of("error-description")
    assert "secret" not in refused.text


async def test_an_unknown_path_is_shown_in_the_chosen_language(browser: Browser) -> None:
    html = {"Accept": "text/html"}
    page = await browser.get("/evil.example/?language=fr", headers=html)
    assert (page.status, page.lang) == (404, "fr")
    assert "evil.example" not in page.text
    page = await choose(browser, page, "es", headers=html)
    assert (page.status, page.lang) == (404, "es")


async def test_the_page_after_a_logout_is_shown_in_the_chosen_language(app: ClientApp) -> None:
    await app.login()
    page = await app.browser.submit(await app.browser.get("/connect/endsession"), action="logout")
    page = await choose(app.browser, page, "de")
    assert (page.lang, page.has("logout-success")) == ("de", True)


@pytest.mark.parametrize("query", ["%FF=%FF", "a=b&a=c", "language=de&language=fr", "%ED%A0%80"])
async def test_any_query_of_a_refused_request_can_be_sent_again(
    browser: Browser, query: str
) -> None:
    page = await choose(browser, await browser.get(f"/connect/authorize?{query}"), "de")
    assert (page.lang, page.status) == ("de", 400)


@pytest.mark.parametrize("language", ["xx", "../de", "de%00", "", "x" * 2000])
async def test_a_language_that_is_not_offered_is_not_remembered(
    browser: Browser, language: str
) -> None:
    page = await browser.get(f"/account/login?language={language}")
    assert (page.status, page.lang) == (200, "en")
    assert "language" not in browser.cookies


async def test_language_cookie_with_an_unknown_value_is_ignored(browser: Browser) -> None:
    browser.put_cookies({"language": "de-Moon<script>"})
    assert (await browser.get("/account/login")).lang == "en"
