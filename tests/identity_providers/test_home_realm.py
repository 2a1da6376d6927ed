"""The e-mail address decides at which provider its user signs in (`domains`), and discloses nobody's account."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.identity_providers.fake_provider import METADATA, FakeProvider
from tests.identity_providers.journey import arrived, provider_entry
from tests.identity_providers.test_provider_away import answering

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1")


@pytest.fixture
def config(fake: FakeProvider) -> dict[str, Any]:
    configuration = fresh_configuration()
    configuration["identity_providers"] = [
        provider_entry(fake.issuer, domains=["partner.example", "bücher.example"]),
        provider_entry("https://elsewhere.example", name="hidden", show_link=False),
    ]
    client_in(configuration, "consenting")["identity_provider_restrictions"] = ["hidden"]
    client_in(configuration, "implicit")["enable_local_login"] = False
    return configuration


async def name_given(app: ClientApp, username: str, **asked: str) -> Page:
    """The page after the login page, where only the name was asked for."""
    page = await app.authorize(**asked)
    assert (page.has("username"), page.has("password")) == (True, False)
    return await app.browser.submit(page, username=username, action="login")


@pytest.mark.parametrize(
    "address",
    [
        "alice@partner.example",
        "Ä b@PARTNER.example.",
        "alice@xn--bcher-kva.example",
        "\u200b alice@partner.example\u00a0",
    ],
)
async def test_user_of_a_domain_is_sent_to_its_provider_with_the_address(
    fake: FakeProvider, app: ClientApp, address: str
) -> None:
    sent = await name_given(app, address)
    assert sent.url.startswith(fake.issuer)
    assert sent.parameters["login_hint"] == address.strip(" \u200b\u00a0")
    assert arrived(await app.browser.get(fake.answer(sent)))


@pytest.mark.parametrize("username", ["alice", "alice@example.com", "a@b@partner.example.org", "@"])
async def test_everybody_else_is_asked_for_the_password(app: ClientApp, username: str) -> None:
    page = await name_given(app, username)
    assert (page.element("username")["value"], page.has("password")) == (username, True)


async def test_password_on_the_second_page_signs_in(app: ClientApp) -> None:
    assert arrived(await app.browser.log_in(await name_given(app, "alice")))


async def test_second_page_is_the_same_whether_or_not_the_user_exists(app: ClientApp) -> None:
    pages = []
    for name in ("alice", "no-such-user"):
        text = (await name_given(app, name)).text.replace(name, "NAME")
        random = r'"request" value="[^"]*"|request=[^"&]*|"challenge": ?"[^"]*"'
        pages.append(re.sub(random, "", text))
    assert pages[0] == pages[1]


async def test_password_of_a_users_home_is_not_checked_here(
    fake: FakeProvider, app: ClientApp
) -> None:
    page = await name_given(app, "alice")
    sent = await app.browser.submit(page, username="a@partner.example", password="x")
    assert sent.url.startswith(fake.issuer)


async def test_login_hint_of_the_client_fills_the_field_and_leads_nowhere_by_itself(
    app: ClientApp,
) -> None:
    page = await app.authorize(login_hint="a@partner.example")
    assert page.element("username")["value"] == "a@partner.example"


async def test_an_empty_name_is_asked_for_again(app: ClientApp) -> None:
    assert not (await name_given(app, " ")).has("password")


async def test_the_policy_of_the_first_page_lets_its_form_lead_to_the_provider(
    app: ClientApp,
) -> None:
    for path in (app.url(), "/account/login"):
        policy = (await app.browser.get(path)).headers["Content-Security-Policy"]
        assert "form-action" not in policy


async def test_providers_without_a_link_are_not_named(app: ClientApp) -> None:
    assert list((await app.authorize()).provider_links) == ["upstream"]


async def test_domain_of_a_provider_that_the_client_does_not_accept_counts_for_nothing(
    app_of: Any,
) -> None:
    app = app_of("consenting")
    page = await app.authorize()
    assert page.has("password")
    failed = await app.browser.submit(page, username="a@partner.example", password="x")
    assert failed.text_of("login-error").startswith("The user name or password is wrong")


async def test_client_without_local_login_asks_for_the_address_and_for_no_password(
    fake: FakeProvider, app_of: Any
) -> None:
    app = app_of("implicit")
    page = await name_given(app, "alice")
    assert page.text_of("login-error").startswith("This address can’t be used to sign in here")
    assert not page.has("password")
    sent = await app.browser.submit(page, username="a@partner.example", action="login")
    assert sent.url.startswith(fake.issuer)
    refused = await app.browser.submit(page, username="alice", password="alice-password")
    assert (refused.status, refused.error) == (400, "invalid_request")


async def test_unavailable_provider_is_named_on_the_page(
    fake: FakeProvider, app: ClientApp
) -> None:
    fake.instead[METADATA] = answering(status=503)
    page = await name_given(app, "a@partner.example")
    assert page.text_of("login-error").startswith("Upstream cannot be reached")


async def test_user_without_a_client_comes_to_the_own_account(
    fake: FakeProvider, app: ClientApp
) -> None:
    first = await app.browser.get("/account/login")
    sent = await app.browser.submit(first, username="a@partner.example", action="login")
    assert (await app.browser.get(fake.answer(sent))).path == "/account"
