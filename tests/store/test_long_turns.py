"""No page and no endpoint keeps the event loop for long, whatever a user has collected.

Work is counted in calls of functions, of which a turn of some milliseconds makes thousands.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from service.model.handle import parse_handle
from service.model.session import Session
from tests.account.account_page import account, clients_on, end_session, revoke, sessions_on
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.driving.turns import counted_turns
from tests.store.collected import MANY, Collector


@pytest.fixture
def config(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A user has as many authorizations as there may be."""
    monkeypatch.setattr("service.store.stores.MAX_MEMBERS", MANY)
    return config


@pytest.fixture
async def session(app: ClientApp, service: RunningService) -> Session:
    """The session of a signed-in user."""
    await app.tokens()
    await account(app.browser)  # whose template is compiled when it is first shown
    (session,) = await service.features.shared.sessions.find_all_of("818727")
    return session


@pytest.fixture
def longest(store_url: str) -> int:
    """Calls in a turn: some milliseconds; the embedded store works in the same turns."""
    return 40_000 if store_url == "memory://" else 16_000


@pytest.fixture
def collector(service: RunningService, session: Session) -> Collector:
    return Collector(service, session)


async def test_the_account_page_of_a_user_with_very_much(
    collector: Collector, browser: Browser, longest: int
) -> None:
    await collector.authorizations()
    await collector.consents()
    await collector.sessions()
    with counted_turns() as turns:
        page = await account(browser)
    assert len(clients_on(page)) == len(sessions_on(page)) == 20
    assert turns.longest < longest


async def test_many_account_pages_at_once_take_turns(
    collector: Collector, browser: Browser, longest: int
) -> None:
    await collector.authorizations()
    with counted_turns() as turns:
        pages = await asyncio.gather(*[account(browser) for _ in range(5)])
    assert {page.status for page in pages} == {200}
    assert turns.longest < longest


async def test_the_revocation_of_a_clients_access(
    collector: Collector, browser: Browser, longest: int
) -> None:
    await collector.authorizations()
    with counted_turns() as turns:
        await revoke(browser, "web")
    assert turns.longest < longest


async def test_the_end_of_a_session(collector: Collector, browser: Browser, longest: int) -> None:
    await collector.authorizations()
    await collector.session_clients()
    with counted_turns() as turns:
        await end_session(browser, collector.session.id)
    assert turns.longest < longest


async def test_the_end_of_all_other_sessions(
    collector: Collector, browser: Browser, longest: int
) -> None:
    await collector.sessions()
    page = await account(browser)
    with counted_turns() as turns:
        page = await browser.submit(page, session=None, action="end-other-sessions")
    assert len(sessions_on(page)) == 1
    assert turns.longest < longest


async def test_one_authorization_more(collector: Collector, app: ClientApp, longest: int) -> None:
    await collector.authorizations()
    with counted_turns() as turns:
        await app.tokens()
    assert turns.longest < longest


async def test_introspection(collector: Collector, service: RunningService, longest: int) -> None:
    token = (await service.user_token("opaque"))["access_token"]
    await collector.authorizations()
    with counted_turns() as turns:
        assert await service.is_active(token)
    assert turns.longest < longest


async def test_the_revocation_of_a_token_with_very_many_below(
    collector: Collector, service: RunningService, longest: int
) -> None:
    token = (await service.user_token("opaque"))["access_token"]
    handle = parse_handle(token, "access_token")
    assert handle is not None
    await collector.delegated(handle.selector, handle.digest)
    with counted_turns() as turns:
        answer = await service.post("/connect/revocation", auth="opaque", token=token)
    assert answer.status == 200
    assert not await service.is_active(token)
    assert turns.longest < longest
