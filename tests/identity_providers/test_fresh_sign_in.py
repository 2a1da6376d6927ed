"""A user of a provider who changes second factors signs in there anew, and comes back to that page (ASVS 7.5.1)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.browser import Browser, Page
from tests.identity_providers.fake_provider import FakeProvider

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#3.1.3.7")

ADD = "/account/security/add"


@pytest.fixture
def config(faked_config: dict[str, Any]) -> dict[str, Any]:
    faked_config["identity_providers"][0]["domains"] = ["upstream.example"]
    return faked_config


@pytest.fixture
async def login(fake: FakeProvider, browser: Browser, clock: Clock) -> Page:
    """The login page before a user of the provider whose login is too old to add a factor."""
    sent = await browser.get((await browser.get("/account/login")).provider_links["upstream"])
    assert (await browser.get(fake.answer(sent))).path == "/account"
    clock.forward(minutes=6)
    page = await browser.get(ADD)
    assert page.path == "/account/login"
    return page


@pytest.mark.parametrize("way", ["link", "domain"])
async def test_provider_is_asked_for_a_new_login_which_leads_back(
    fake: FakeProvider, browser: Browser, login: Page, way: str
) -> None:
    if way == "link":
        sent = await browser.get(login.provider_links["upstream"])
    else:
        sent = await browser.submit(login, username="alice@upstream.example")
    assert {"prompt": "login", "max_age": "0"}.items() <= sent.parameters.items()
    fake.claims["auth_time"] = timedelta()
    assert (await browser.get(fake.answer(sent))).path == ADD


async def test_old_login_at_the_provider_changes_nothing(
    fake: FakeProvider, browser: Browser, login: Page
) -> None:
    fake.claims["auth_time"] = timedelta(minutes=-10)
    sent = await browser.get(login.provider_links["upstream"])
    refused = await browser.get(fake.answer(sent))
    assert refused.text_of("login-error").startswith("Upstream did not sign you in")
    assert (await browser.get(ADD)).path == "/account/login"
    fake.claims["auth_time"] = timedelta()
    again = await browser.get(refused.provider_links["upstream"])
    assert (await browser.get(fake.answer(again))).path == ADD


async def test_all_cookies_of_a_new_login_are_of_no_use_elsewhere(
    fake: FakeProvider, browser: Browser, login: Page
) -> None:
    fake.claims["auth_time"] = timedelta()
    sent = await browser.get(login.provider_links["upstream"])
    page = await browser.get(fake.answer(sent))
    assert page.path == ADD
    thief = Browser(browser.issuer)
    thief.put_cookies(browser.cookies)
    assert (await thief.get(ADD)).path == "/account/login"
    assert (await thief.post(ADD, dict(page.forms[0].fields) | {"fresh_login": ""})).path == (
        "/account/login"
    )
    await thief.close()


async def test_requests_and_the_account_need_no_new_login(browser: Browser) -> None:
    for back in ("", "?return_to=/account/requests", "?return_to=https://evil.example"):
        page = await browser.get(f"/account/login{back}")
        sent = await browser.get(page.provider_links["upstream"])
        assert not {"prompt", "max_age"} & sent.parameters.keys()


async def test_answer_names_no_page_to_return_to(fake: FakeProvider, browser: Browser) -> None:
    sent = await browser.get((await browser.get("/account/login")).provider_links["upstream"])
    assert (await browser.get(fake.answer(sent, return_to=ADD))).path == "/account"
