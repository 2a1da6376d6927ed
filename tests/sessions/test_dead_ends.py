"""A sign-in page that has expired or belongs to another browser says so, and leads on (OIDC Core §4, RFC 9700 §4.7)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from service.app import STEP_PAGES
from tests.conftest import Clock
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("openid-core#4")

START = "https://web.example/start"
HOME = "https://web.example/"


@pytest.fixture(params=[{"initiate_login_uri": START, "client_uri": HOME}])
def config(request: pytest.FixtureRequest) -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "web").update(request.param)
    return configuration


@pytest.fixture
async def elsewhere(service: RunningService) -> AsyncIterator[Browser]:
    """Another browser."""
    browser = Browser(service.issuer)
    yield browser
    await browser.close()


def way_on(page: Page) -> str | None:
    """The link of the page."""
    assert page.error == "invalid_request"
    return page.element("start-again")["href"]


def start(service: RunningService) -> str:
    """The URL that begins a login at the client."""
    return f"{START}?iss={quote(service.issuer, safe='')}"


async def test_a_page_that_was_opened_too_late_leads_to_the_client(
    app: ClientApp, clock: Clock
) -> None:
    page = await app.authorize()
    clock.forward(minutes=16)
    late = await app.browser.get(page.url)
    assert (late.status, way_on(late)) == (400, start(app.service))
    assert "Web application" in late.text_of("start-again")


async def test_a_form_that_was_sent_too_late_leads_to_the_client(
    app: ClientApp, clock: Clock
) -> None:
    page = await app.authorize()
    clock.forward(hours=5)
    assert way_on(await app.browser.log_in(page)) == start(app.service)


async def test_browser_without_cookies_learns_to_allow_them(app: ClientApp) -> None:
    page = await app.authorize()
    app.browser.forget_cookies()
    page = await app.browser.log_in(page)
    assert (page.status, way_on(page)) == (403, start(app.service))
    assert "your browser allows cookies" in page.text


async def test_a_form_that_was_answered_before_leads_to_the_client(app: ClientApp) -> None:
    page = await app.authorize()
    await app.browser.log_in(page)
    assert way_on(await app.browser.log_in(page)) == start(app.service)


async def test_a_page_of_another_browser_leads_to_the_client(
    app: ClientApp, elsewhere: Browser
) -> None:
    page = await app.authorize()
    assert way_on(await elsewhere.get(page.url)) == start(app.service)


async def test_a_browser_that_was_closed_meanwhile_leads_to_the_client(app: ClientApp) -> None:
    page = await app.authorize()
    app.browser.forget_cookies()
    late = await app.browser.log_in(page)
    assert (late.status, way_on(late)) == (403, start(app.service))


@pytest.mark.parametrize("path", [step.path for page in STEP_PAGES for step in page.steps])
async def test_page_of_every_step_says_that_its_request_is_over(app: ClientApp, path: str) -> None:
    page = await app.browser.get(f"{path}?request=unknown")
    assert (page.status, urlsplit(way_on(page) or "").path) == (400, "/account")


async def test_forged_logout_form_leads_to_no_client(app: ClientApp) -> None:
    await app.login()
    page = await app.browser.get(f"/connect/endsession?client_id={app.client_id}")
    forged = await app.browser.submit(page, csrf="of another browser")
    assert (forged.status, forged.error) == (403, "invalid_request")
    assert not forged.has("start-again")


async def test_the_page_is_in_the_persons_language(app: ClientApp) -> None:
    headers = {"Accept-Language": "de"}
    late = await app.browser.get("/account/login?request=unknown", headers=headers)
    assert late.lang == "de"
    assert "Diese Anmeldung ist abgelaufen" in late.text


@pytest.mark.parametrize("config", [{"client_uri": HOME}], indirect=True)
async def test_a_client_without_a_start_is_linked_by_its_home_page(
    app: ClientApp, clock: Clock
) -> None:
    page = await app.authorize()
    clock.forward(minutes=16)
    assert way_on(await app.browser.get(page.url)) == HOME


@pytest.mark.parametrize(
    "config",
    [{}, {"enabled": False, "client_uri": HOME}],
    indirect=True,
    ids=["silent", "disabled"],
)
@pytest.mark.parametrize("path", ["/account/login", "/account/consent", "/account/select"])
async def test_dead_end_without_a_client_links_to_the_account(browser: Browser, path: str) -> None:
    page = await browser.get(f"{path}?request={'x' * 22}{'y' * 8}")
    assert urlsplit(way_on(page) or "").path == "/account"


async def test_an_error_that_is_no_dead_end_has_no_link(app: ClientApp) -> None:
    page = await app.authorize(redirect_uri="https://evil.example")
    assert not page.has("start-again")
