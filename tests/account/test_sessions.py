"""A person sees where the own sessions are, and ends them (OpenID Connect Session Management §1)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from service.events.users import LoggedOut, SessionEnded
from tests.account.account_page import account, end_session, sessions_on
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService, claims_in

OFFLINE = "openid api1 offline_access"


async def test_a_user_without_a_session_logs_in_and_comes_back(browser: Browser) -> None:
    page = await account(browser)
    assert (page.path, page.has("login")) == ("/account/login", True)
    page = await browser.log_in(page)
    assert (page.path, page.status, len(sessions_on(page))) == ("/account", 200, 1)


async def test_the_account_page_names_the_user(browser: Browser) -> None:
    page = await browser.log_in(await account(browser))
    assert "Alice Smith" in page.text
    assert "· alice" in page.text


async def test_sessions_of_all_browsers_are_shown_and_this_one_first(
    app: ClientApp, other_app: ClientApp
) -> None:
    here = claims_in((await app.tokens())["id_token"])["sid"]
    there = claims_in((await other_app.tokens())["id_token"])["sid"]
    page = await account(app.browser)
    assert sessions_on(page) == [here, there]
    assert page.text.count("This device") == 1


async def test_a_session_ended_elsewhere_asks_for_the_login_again(
    app: ClientApp, other_app: ClientApp
) -> None:
    await app.login()
    there = claims_in((await other_app.tokens())["id_token"])["sid"]
    page = await end_session(app.browser, there)
    assert (page.path, there in sessions_on(page)) == ("/account", False)
    assert (await other_app.authorize()).has("login")
    assert (await account(other_app.browser)).has("login")


@pytest.mark.rfc("openid-core#11")
async def test_the_tokens_of_an_ended_session_are_inactive_but_the_offline_ones(
    app: ClientApp, other_app: ClientApp, service: RunningService
) -> None:
    await app.login()
    tokens, offline = await other_app.tokens(), await other_app.tokens(scope=OFFLINE)
    await end_session(app.browser, claims_in(tokens["id_token"])["sid"])
    assert not await service.is_active(tokens["access_token"])
    assert await service.is_active(offline["access_token"])
    assert (await other_app.refresh(offline["refresh_token"])).status == 200


async def test_ending_the_current_session_signs_out(app: ClientApp, events: list[object]) -> None:
    sid = claims_in((await app.tokens())["id_token"])["sid"]
    page = await end_session(app.browser, sid)
    assert (page.path, page.has("login")) == ("/account/login", True)
    assert "sid" not in app.browser.cookies
    assert LoggedOut(subject="818727", session_id=sid) in events
    assert SessionEnded(subject="818727", session_id=sid) in events


async def test_all_other_sessions_end_at_once(
    app: ClientApp, other_app: ClientApp, events: list[object]
) -> None:
    tokens = await app.tokens()
    there = claims_in((await other_app.tokens())["id_token"])["sid"]
    page = await account(app.browser)
    page = await app.browser.submit(page, session=None, action="end-other-sessions")
    assert sessions_on(page) == [claims_in(tokens["id_token"])["sid"]]
    assert (await account(other_app.browser)).has("login")
    assert not page.has("end-other-sessions")
    assert SessionEnded(subject="818727", session_id=there) in events


async def test_many_other_sessions_end_without_a_round_trip_for_each(
    service: RunningService, browser: Browser
) -> None:
    app = ClientApp(service, browser)
    one, many = [await round_trips_of_ending_others(app, others) for others in (1, 12)]
    assert many - one < 11, "what works beside requests asks now and then, too"


async def round_trips_of_ending_others(app: ClientApp, others: int) -> float:
    """The requests to the store when the user signs out everywhere else, with so many other sessions."""
    for _ in range(1 + others):
        app.browser.forget_cookies()
        await app.tokens()
    page = await account(app.browser)
    assert len(sessions_on(page)) > others
    before = await store_requests(app.service)
    page = await app.browser.submit(page, session=None, action="end-other-sessions")
    assert len(sessions_on(page)) == 1
    return await store_requests(app.service) - before


async def store_requests(service: RunningService) -> float:
    shown = (await service.get("/metrics")).body.decode()
    return float(re.findall(r"store_seconds_count (\S+)", shown)[0])


async def test_ending_other_sessions_does_not_end_those_of_other_users(
    app: ClientApp, other_app: ClientApp
) -> None:
    await other_app.login("bob")
    await app.login()
    page = await account(app.browser)
    await app.browser.submit(page, action="end-other-sessions")
    assert (await account(other_app.browser)).path == "/account"


async def test_a_session_shows_from_where_and_when_it_began(app: ClientApp) -> None:
    await app.login()
    page = await account(app.browser)
    assert re.search(
        r"Signed in <time data-local datetime=\"\S+Z\">.+ UTC</time> from 127.0.0.1", page.text
    )


async def test_a_user_cannot_end_the_session_of_another_user(
    app: ClientApp, other_app: ClientApp, service: RunningService
) -> None:
    bobs = await other_app.tokens("bob")
    await app.login()
    await end_session(app.browser, claims_in(bobs["id_token"])["sid"])
    assert await service.is_active(bobs["access_token"])
    assert (await account(other_app.browser)).path == "/account"


async def test_a_user_cannot_see_the_session_of_another_user(
    app: ClientApp, other_app: ClientApp
) -> None:
    await other_app.login("bob")
    await app.login()
    assert len(sessions_on(await account(app.browser))) == 1


async def test_a_session_shows_when_it_was_last_used(app: ClientApp, clock: Clock) -> None:
    await app.login()
    clock.forward(hours=2)
    assert "1 second ago" in (await account(app.browser)).text
    assert "2 hours ago" not in (await account(app.browser)).text


@pytest.mark.parametrize("csrf", [None, "", "of-another-browser"])
async def test_a_forged_account_form_is_forbidden(app: ClientApp, csrf: str | None) -> None:
    tokens = await app.tokens()
    sid = claims_in(tokens["id_token"])["sid"]
    page = await account(app.browser)
    page = await app.browser.submit(page, session=sid, action="end-session", csrf=csrf)
    assert (page.status, page.error) == (403, "invalid_request")
    assert sessions_on(await account(app.browser)) == [sid]


async def test_the_csrf_value_of_another_browser_is_refused(
    app: ClientApp, other_app: ClientApp
) -> None:
    await app.login()
    await other_app.login("bob")
    page = await account(other_app.browser)
    stolen = dict(page.forms[0].fields)["csrf"]
    page = await app.browser.submit(await account(app.browser), csrf=stolen, action="end-session")
    assert (page.status, page.error) == (403, "invalid_request")


@pytest.mark.parametrize(
    "fields", [{"action": "dance"}, {"action": None}, {"action": "revoke"}], ids=repr
)
async def test_an_incomplete_account_form_is_refused(
    app: ClientApp, fields: dict[str, Any]
) -> None:
    await app.login()
    page = await app.browser.submit(await account(app.browser), **fields)
    assert (page.status, page.error) == (400, "invalid_request")


async def test_a_form_sent_after_the_session_has_ended_asks_to_log_in(
    app: ClientApp, other_app: ClientApp
) -> None:
    sid = claims_in((await app.tokens())["id_token"])["sid"]
    await other_app.login()
    page = await account(app.browser)
    await end_session(other_app.browser, sid)
    assert (await app.browser.submit(page, action="end-session")).has("login")


async def test_the_account_page_is_not_stored_and_not_framed(app: ClientApp) -> None:
    await app.login()
    page = await account(app.browser)
    assert page.headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


@pytest.mark.parametrize("action", ["end-session", "end-other-sessions"])
async def test_the_account_page_of_one_user_ends_no_session_of_another(
    app: ClientApp, other_app: ClientApp, action: str
) -> None:
    await other_app.login("bob")
    await app.login()
    page = await account(app.browser)
    bobs = claims_in((await app.tokens("bob", prompt="login"))["id_token"])["sid"]
    page = await app.browser.submit(page, session=bobs, action=action)
    assert (page.path, "Bob Jones" in page.text, len(sessions_on(page))) == ("/account", True, 2)
