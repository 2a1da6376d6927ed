"""The account shows long lists a page at a time."""

from __future__ import annotations

import pytest

from service.web.pages.display import PER_PAGE
from tests.account.account_page import account, clients_on, sessions_on
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.store.collected import Collector

CLIENTS = 45
SESSIONS = 25


@pytest.fixture
async def collector(app: ClientApp, service: RunningService) -> Collector:
    await app.tokens()
    (session,) = await service.features.shared.sessions.find_all_of("818727")
    return Collector(service, session)


async def test_every_client_with_access_is_on_one_page(
    collector: Collector, browser: Browser
) -> None:
    await collector.authorizations(number=CLIENTS)
    shown = [clients_on(await browser.get(f"/account?grants={page}")) for page in (1, 2, 3)]
    assert [len(page) for page in shown] == [PER_PAGE, PER_PAGE, CLIENTS + 1 - 2 * PER_PAGE]
    every = {f"client{number}" for number in range(CLIENTS)} | {"web"}
    assert {client for page in shown for client in page} == every


async def test_every_session_is_on_one_page(collector: Collector, browser: Browser) -> None:
    ids = {collector.session.id, *await collector.sessions(number=SESSIONS)}
    shown = [sessions_on(await browser.get(f"/account?sessions={page}")) for page in (1, 2)]
    assert shown[0][0] == collector.session.id
    assert len(shown[0]) == PER_PAGE
    assert {session for page in shown for session in page} == ids


async def test_pages_link_to_each_other(collector: Collector, browser: Browser) -> None:
    await collector.authorizations(number=CLIENTS)
    links = (await browser.get("/account?grants=2")).links
    assert any(link.endswith("/account?grants=1#grants") for link in links)
    assert any(link.endswith("/account?grants=3#grants") for link in links)


@pytest.mark.parametrize("page", ["0", "-1", "x", "", "99999", "9" * 50, "%C2%B2"])
async def test_a_page_that_there_is_not_is_the_nearest(
    collector: Collector, browser: Browser, page: str
) -> None:
    await collector.authorizations(number=CLIENTS)
    assert clients_on(await browser.get(f"/account?grants={page}"))


async def test_many_details_of_one_client_are_counted(
    collector: Collector, browser: Browser
) -> None:
    await collector.authorizations(number=CLIENTS, client_id="web")
    page = await account(browser)
    assert clients_on(page) == ["web"]
    assert "25 more" in page.text


async def test_user_stays_on_the_page_of_the_session_that_was_ended(
    collector: Collector, browser: Browser
) -> None:
    await collector.sessions(number=SESSIONS)
    page = await browser.submit(await browser.get("/account?sessions=2"), action="end-session")
    assert page.url.endswith("/account?sessions=2#sessions")
    assert len(sessions_on(page)) == SESSIONS - PER_PAGE


async def test_user_stays_on_the_page_of_the_client_that_lost_access(
    collector: Collector, browser: Browser
) -> None:
    await collector.authorizations(number=CLIENTS)
    shown = await browser.get("/account?grants=2")
    (first, *_) = clients_on(shown)
    form = next(n for n, one in enumerate(shown.forms) if ("client_id", first) in one.fields)
    page = await browser.submit(shown, form, action="revoke")
    assert page.url.endswith("/account?grants=2#grants")
    assert first not in clients_on(page)


@pytest.mark.parametrize("name", ["%0d%0aX: y", "//evil.example", "9" * 50])
async def test_page_to_return_to_is_a_number(
    collector: Collector, browser: Browser, name: str
) -> None:
    await collector.sessions(number=SESSIONS)
    shown = await browser.get("/account?sessions=2")
    page = await browser.submit(shown, action="end-session", list_page=name)
    assert page.url.endswith("/account")
