"""The headers of every page, whichever way it was reached (RFC 9700 §4.16, CSP3, ASVS 3.4)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import pytest

from tests.driving.browser import Page
from tests.driving.client_app import ClientApp

pytestmark = [
    pytest.mark.rfc("9700#4.16"),
    pytest.mark.usefixtures("one_store"),  # headers do not depend on what is stored
]

Reaching = Callable[[ClientApp], Awaitable[Page]]


async def login(app: ClientApp) -> Page:
    return await app.authorize()


async def wrong_password(app: ClientApp) -> Page:
    return await app.browser.log_in(await app.authorize(), password="wrong")


async def select_account(app: ClientApp) -> Page:
    await app.login()
    return await app.authorize(prompt="select_account")


async def consent(app: ClientApp) -> Page:
    return await app.login(prompt="consent")


async def form_post(app: ClientApp) -> Page:
    return await app.login(response_mode="form_post")


async def logout(app: ClientApp) -> Page:
    await app.login()
    return await app.browser.get("/connect/endsession")


async def logged_out(app: ClientApp) -> Page:
    return await app.browser.get("/connect/endsession")


async def account(app: ClientApp) -> Page:
    await app.login()
    return await app.browser.get("/account")


async def error(app: ClientApp) -> Page:
    return await app.authorize(client_id="nobody")


async def logout_for_a_client(app: ClientApp) -> Page:
    await app.login()
    query = "client_id=web&post_logout_redirect_uri=https://web.example/bye"
    return await app.browser.get(f"/connect/endsession?{query}")


async def device(app: ClientApp) -> Page:
    return await app.browser.get("/device")


PAGES: list[Reaching] = [
    login,
    wrong_password,
    select_account,
    consent,
    form_post,
    logout,
    logged_out,
    account,
    error,
    device,
]
each_page = pytest.mark.parametrize("reach", PAGES, ids=lambda reach: reach.__name__)


def policy_of(page: Page) -> dict[str, list[str]]:
    """The content security policy by directive."""
    directives = page.headers["Content-Security-Policy"].split("; ")
    return {name: sources for name, *sources in map(str.split, directives)}


@each_page
async def test_page_is_not_cached_framed_sniffed_or_named_as_referrer(
    app: ClientApp, reach: Reaching
) -> None:
    page = await reach(app)
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Pragma"] == "no-cache"
    policy = "strict-origin" if reach is form_post else "no-referrer"
    assert page.headers["Referrer-Policy"] == policy
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["X-Frame-Options"] == "DENY"
    assert policy_of(page)["frame-ancestors"] == policy_of(page)["default-src"] == ["'none'"]
    assert page.headers["X-Request-ID"]


@each_page
async def test_page_runs_no_inline_script_but_the_one_that_posts_to_the_client(
    app: ClientApp, reach: Reaching
) -> None:
    page = await reach(app)
    assert len(re.findall("<script>", page.text)) == (1 if reach is form_post else 0)
    for source in re.findall("<script ([^>]+)", page.text):
        assert source.startswith(('src="/static/page.', 'src="/static/passkeys.'))
    assert (policy_of(page)["script-src"] == ["'self'"]) == (reach is not form_post)


LEADING_AWAY = [
    login,
    wrong_password,
    select_account,
    consent,
    form_post,
    logout_for_a_client,
    device,
]


@pytest.mark.rfc("6749#3.1.2", "8252#7")
@pytest.mark.parametrize("reach", LEADING_AWAY, ids=lambda reach: reach.__name__)
async def test_form_of_a_page_may_lead_to_the_client_and_wherever_the_client_redirects(
    app: ClientApp, reach: Reaching
) -> None:
    assert "form-action" not in policy_of(await reach(app))


@pytest.mark.parametrize("reach", [error, logged_out, account], ids=lambda reach: reach.__name__)
async def test_page_without_a_client_leads_to_no_other_site(
    app: ClientApp, reach: Reaching
) -> None:
    assert policy_of(await reach(app))["form-action"] == ["'self'"]


async def test_redirect_is_not_cached(app: ClientApp) -> None:
    page = await app.login()
    assert (page.status, page.headers["Cache-Control"]) == (303, "no-store")
    assert page.headers["Referrer-Policy"] == "no-referrer"
