"""Any replica goes on with what another began: requests, sessions, consents, anti-forgery values (ASVS 7.1)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService

Mortal = tuple[str, subprocess.Popen[bytes]]


@pytest.fixture
def config(mortal_redis: Mortal) -> dict[str, Any]:
    return fresh_configuration() | {
        "issuer": "http://login.localhost",
        "store": {"url": mortal_redis[0]},
    }


@pytest.fixture
async def other(start: Start, config: dict[str, Any]) -> RunningService:
    """A second replica."""
    return await start(config)


@pytest.fixture
def consenting(app_of: Callable[[str], ClientApp]) -> ClientApp:
    """A client that is asked about."""
    return app_of("consenting")


def move_to(replica: RunningService, page: Page) -> Page:
    """The same page, whose forms go to this replica next."""
    return Page(replica.issuer + page.path, page.status, page.headers, page.text)


async def test_every_page_may_be_answered_by_another_replica(
    consenting: ClientApp, service: RunningService, other: RunningService
) -> None:
    browser = consenting.browser
    page = await browser.log_in(move_to(other, await consenting.authorize()), password="wrong")
    page = await browser.log_in(move_to(service, page))
    page = await browser.submit(move_to(other, page), action="allow")
    assert "code" in page.parameters
    tokens = await ClientApp(other, browser, "consenting", consenting.code_verifier).redeem(
        page.parameters["code"]
    )
    assert await service.is_active(tokens["access_token"])


async def test_a_session_counts_at_every_replica(
    app: ClientApp, other: RunningService, browser: Browser
) -> None:
    await app.login()
    page = await ClientApp(other, browser).authorize(prompt="none")
    assert "code" in page.parameters


async def test_failed_logins_are_counted_over_all_replicas(
    app: ClientApp, service: RunningService, other: RunningService
) -> None:
    page = await app.authorize()
    for replica in (service, other, service, other, service):
        page = await app.browser.log_in(move_to(replica, page), password="wrong")
    assert (await app.browser.log_in(move_to(other, page))).has("login-error")
