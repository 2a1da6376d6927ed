"""Answers in one session do not apply to another one (OIDC Core §3.1.2.1, §3.1.2.3, §3.1.2.4)."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.structs import replace

from service.authorize.answer import Answering
from service.protocol.errors import TemporarilyUnavailable
from tests.conftest import Clock
from tests.device.tv import TELEVISIONS, Television
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#3.1.2.3", "openid-core#3.1.2.4")


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "native")["user_sso_lifetime"] = "10m"
    configuration["clients"].append(TELEVISIONS[0] | {"user_sso_lifetime": "10m"})
    return configuration


@pytest.fixture(params=["alice", "bob"])
def victim(request: pytest.FixtureRequest) -> str:
    """The user whose session was copied: the one who answers, in another browser, or another user."""
    return str(request.param)


@pytest.fixture
async def copied(service: RunningService, victim: str) -> AsyncIterator[dict[str, str]]:
    """The cookie of a session of that user."""
    browser = Browser(service.issuer)
    await ClientApp(service, browser).login(victim)
    yield {name: value for name, value in browser.cookies.items() if name.startswith("sid")}
    await browser.close()


async def reload_with(browser: Browser, cookie: dict[str, str], page: Page) -> Page:
    """Open the page again in the other session."""
    browser.put_cookies(cookie)
    return await browser.get(page.url)


@pytest.mark.parametrize(
    ("client_id", "asked"),
    [
        ("web", {"prompt": "login consent"}),
        ("web", {"prompt": "consent", "max_age": "0"}),
        ("web", {"prompt": "consent", "max_age": "60"}),
        ("native", {"prompt": "consent"}),
    ],
    ids=["prompt=login", "max_age=0", "max_age", "user_sso_lifetime"],
)
async def test_a_login_for_a_request_does_not_count_for_another_session(
    app: ClientApp, copied: dict[str, str], clock: Clock, client_id: str, asked: dict[str, str]
) -> None:
    clock.forward(minutes=15)
    consent = await dataclasses.replace(app, client_id=client_id).login(**asked)
    assert consent.path == "/account/consent"
    page = await reload_with(app.browser, copied, consent)
    assert page.path == "/account/login"


async def test_a_login_for_a_device_does_not_count_for_another_session(
    service: RunningService, browser: Browser, copied: dict[str, str], clock: Clock
) -> None:
    clock.forward(minutes=15)
    tv = await Television.switch_on(service, browser)
    confirmation = await tv.confirmation()
    assert confirmation.path == "/device"
    page = await reload_with(browser, copied, confirmation)
    assert page.path == "/account/login"


async def test_an_account_that_was_selected_is_not_that_of_another_session(
    app: ClientApp, copied: dict[str, str]
) -> None:
    await app.login()
    page = await app.authorize(prompt="select_account consent")
    consent = await app.browser.submit(page, action="continue")
    assert consent.path == "/account/consent"
    page = await reload_with(app.browser, copied, consent)
    assert page.path == "/account/select"


async def test_a_consent_is_not_that_of_another_session(
    app: ClientApp, copied: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise TemporarilyUnavailable("the store does not answer")

    consent = await app.login(prompt="consent")
    with monkeypatch.context() as patch:
        patch.setattr(Answering, "grant", fail)
        failed = await app.browser.submit(consent, action="allow")
    assert failed.error == "temporarily_unavailable"
    page = await reload_with(app.browser, copied, consent)
    assert page.path == "/account/consent"


async def test_another_login_in_the_same_session_keeps_the_answers(app: ClientApp) -> None:
    consent = await app.login(prompt="login consent")
    await app.browser.log_in(await app.browser.get("/account/login"))
    assert (await app.browser.get(consent.url)).path == "/account/consent"


async def test_a_login_does_not_count_after_the_session_has_gone_back(
    app: ClientApp,
) -> None:
    """Such as to the time of a provider that says when its user signed in there."""
    consent = await app.login(prompt="login consent")
    records, stores = app.service.features.shared, app.service.features.shared.stores
    (session,) = await records.sessions.find_all_of("818727")
    older = replace(session, auth_time=session.auth_time - 60)
    await stores.kv.write(stores.sessions.put(older, session.id, ttl=600))
    assert (await app.browser.get(consent.url)).path == "/account/login"
