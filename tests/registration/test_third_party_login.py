"""A person starts a login at a client from the own account here (OIDC Core §4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registering import RegisteredApp, register
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("openid-core#4")
Registering = Callable[..., Awaitable[RegisteredApp]]

START = "https://web.example/start?from=op"
STRANGER = {
    "client_name": "Your bank",
    "logo_uri": "https://logos.example/bank.png",
    "initiate_login_uri": "https://registered.example/start",
}
NOTICE = "registered itself. What you share will be sent to <strong>registered.example</strong>"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """One client of the file takes such logins."""
    client_in(config, "web")["initiate_login_uri"] = START
    return config


def link_to(service: RunningService, uri: str) -> str:
    """As it stands in a page's source."""
    return f'href="{uri}&amp;iss={quote(service.issuer, safe="")}"'


async def test_the_account_links_to_where_the_client_takes_a_login(
    app: ClientApp, service: RunningService
) -> None:
    await app.login()
    page = await app.browser.get("/account")
    assert link_to(service, START) in page.text
    assert 'data-application="web"' in page.text


async def test_the_person_is_not_named_to_the_client(app: ClientApp) -> None:
    await app.login()
    assert "login_hint" not in (await app.browser.get("/account")).text


async def test_dynamically_registered_client_is_not_offered_to_everybody(
    registering: Registering, browser: Browser
) -> None:
    client = await registering(initiate_login_uri="https://registered.example/start")
    await client.login()
    assert client.client_id not in (await browser.get("/account")).text


async def test_a_registered_client_is_offered_to_who_was_sent_for_it(
    registering: Registering, browser: Browser, service: RunningService
) -> None:
    client = await registering(initiate_login_uri="https://registered.example/start?a=b")
    await client.login()
    page = await browser.get(f"/account?client_id={client.client_id}")
    assert link_to(service, "https://registered.example/start?a=b") in page.text


async def test_a_registered_client_is_offered_to_who_has_granted_it_something(
    registering: Registering, browser: Browser
) -> None:
    client = await registering(initiate_login_uri="https://registered.example/start")
    await client.tokens(scope="openid")
    assert f'data-application="{client.client_id}"' in (await browser.get("/account")).text


@pytest.mark.rfc("7591#5")
async def test_a_link_alone_shows_only_the_host_of_a_registered_client(
    registering: Registering, browser: Browser
) -> None:
    client = await registering(**STRANGER)
    await client.login()
    page = await browser.get(f"/account?client_id={client.client_id}")
    assert NOTICE in page.text
    assert "logos.example" not in page.text + page.headers["Content-Security-Policy"]


@pytest.mark.rfc("7591#5")
async def test_the_logo_of_a_registered_client_is_shown_to_who_has_granted_it_something(
    registering: Registering, browser: Browser
) -> None:
    await (await registering(**STRANGER)).tokens(scope="openid")
    page = await browser.get("/account")
    assert NOTICE in page.text
    assert page.text.count(f'src="{STRANGER["logo_uri"]}"') == 2


async def test_a_configured_client_is_shown_without_a_warning(app: ClientApp) -> None:
    await app.login()
    assert "registered itself" not in (await app.browser.get("/account")).text


@pytest.mark.rfc("openid-registration#2")
@pytest.mark.parametrize("uri", ["http://registered.example/start", "http://127.0.0.1/start"])
async def test_a_login_uri_of_a_registered_client_must_be_https(
    service: RunningService, uri: str
) -> None:
    answer = await register(service, initiate_login_uri=uri)
    assert answer.refusal == (400, "invalid_client_metadata")
    assert "initiate_login_uri" in answer["error_description"]
