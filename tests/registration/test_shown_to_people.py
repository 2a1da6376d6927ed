"""The pages show what a client registered about itself (OpenID Connect Registration §2, RFC 7591 §2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registering import RegisteredApp
from tests.driving.registry import client_in

Registering = Callable[..., Awaitable[RegisteredApp]]
pytestmark = pytest.mark.rfc("openid-registration#2")

SHOWN = {
    "client_name": "Shown application",
    "client_uri": "https://registered.example/home",
    "logo_uri": "https://logos.example/shown.png",
    "policy_uri": "https://registered.example/privacy",
    "tos_uri": "https://registered.example/terms",
}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A client of the file that says the same."""
    client_in(config, "consenting").update(SHOWN)
    return config


def shows_it_all(page: Page) -> bool:
    """Whether name, logo and links are there, and the browser may load the logo."""
    links = [SHOWN[name] for name in ("client_uri", "policy_uri", "tos_uri")]
    opened = [f'href="{link}" target="_blank" rel="noopener noreferrer"' for link in links]
    logo = f'src="{SHOWN["logo_uri"]}"'
    policy = page.headers["Content-Security-Policy"].split("; ")
    images = next(each for each in policy if each.startswith("img-src"))
    wanted = [SHOWN["client_name"], logo, *opened]
    return "https://logos.example" in images and all(each in page.text for each in wanted)


async def test_login_and_consent_show_what_a_registered_client_says(
    registering: Registering,
) -> None:
    client = await registering(**SHOWN)
    page = await client.authorize()
    assert page.has("login")
    assert shows_it_all(page)
    page = await client.browser.log_in(page)
    assert page.has("consent-allow")
    assert shows_it_all(page)


async def test_login_and_consent_show_what_a_configured_client_says(
    app_of: Callable[[str], ClientApp],
) -> None:
    client = app_of("consenting")
    page = await client.authorize()
    assert shows_it_all(page)
    page = await client.browser.log_in(page)
    assert shows_it_all(page)


@pytest.mark.rfc("openid-registration#2.1")
async def test_a_name_is_shown_in_the_users_language(registering: Registering) -> None:
    names = {"client_name": "Shown application", "client_name#de": "Gezeigte Anwendung"}
    client = await registering(**names)
    assert "Gezeigte Anwendung" in (await client.authorize(ui_locales="de")).text
    assert "Shown application" in (await client.authorize(ui_locales="fr")).text


@pytest.mark.rfc("openid-registration#2.1")
async def test_a_name_in_one_language_is_shown_in_that_language(registering: Registering) -> None:
    client = await registering(**{"client_name#de-DE": "Gezeigte Anwendung"})
    assert "Gezeigte Anwendung" in (await client.authorize(ui_locales="en")).text
