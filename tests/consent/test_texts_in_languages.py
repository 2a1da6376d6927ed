"""Whatever a person reads may be configured in several languages (OpenID Connect Registration §2.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration

pytestmark = pytest.mark.rfc("openid-registration#2.1")


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "consenting")["client_name"] = {
        "en": "Careful <app>",
        "de": "Vorsichtige <Anwendung>",
    }
    configuration["ui"]["title"] = {"en": "Welcome", "de": "Willkommen"}
    acme = {"name": "acme", "display_name": {"en": "Acme", "de": "Gipfel"}, "providers": ["up"]}
    configuration["tenants"] = [acme]
    configuration["users"]["list"][0]["tenant"] = "acme"
    configuration["api_scopes"] = [
        {
            "name": "api1",
            "display_name": {"en": "Orders", "de-DE": "Bestellungen"},
            "description": {"fr": "Toutes", "de": "Alle"},
        }
    ]
    provider: dict[str, Any] = {"name": "up", "issuer": "https://up.example", "client_id": "us"}
    provider["display_name"] = {"en": "Upstairs", "de": "Oben"}
    configuration["identity_providers"] = [provider]
    return configuration


@pytest.fixture
def client(app_of: Callable[[str], ClientApp]) -> ClientApp:
    return app_of("consenting")


async def both(client: ClientApp, ui_locales: str) -> tuple[Page, Page]:
    """The login page and the consent page."""
    login = await client.authorize(
        ui_locales=ui_locales, scope="openid api1", acr_values="tenant:acme"
    )
    return login, await client.browser.log_in(login)


@pytest.mark.parametrize(
    ("ui_locales", "on_login", "on_consent"),
    [
        pytest.param(
            "de",
            ["Willkommen", "Vorsichtige &lt;Anwendung&gt;", "Gipfel", "Weiter mit Oben"],
            ["Vorsichtige &lt;Anwendung&gt; bittet", "Orders", "Alle"],
            id="another language",
        ),
        pytest.param(
            "en",
            ["Welcome", "Careful &lt;app&gt;", "Acme", "Continue with Upstairs"],
            ["Careful &lt;app&gt; asks", "Orders", "Toutes"],
            id="the default language, and the first where it is missing",
        ),
        pytest.param(
            "fr",
            ["Welcome", "Careful &lt;app&gt;", "Acme", "Upstairs"],
            ["Careful &lt;app&gt;", "Orders", "Toutes"],
            id="a language that only one text has",
        ),
    ],
)
async def test_the_operators_texts_are_in_the_pages_language(
    client: ClientApp, ui_locales: str, on_login: list[str], on_consent: list[str]
) -> None:
    login, consent = await both(client, ui_locales)
    assert [text for text in on_login if text not in login.text] == []
    assert [text for text in on_consent if text not in consent.text] == []


@pytest.mark.parametrize(
    ("ui_locales", "title", "heading"),
    [
        ("en", "Sign in – Welcome", "<h1>Welcome</h1>"),
        ("de", "Anmelden – Willkommen", "<h1>Willkommen</h1>"),
        ("fr", "Se connecter – Welcome", '<h1><span lang="en">Welcome</span></h1>'),
    ],
    ids=["en", "de", "fr"],
)
async def test_title_of_the_login_page_says_what_the_page_is_for(
    client: ClientApp, ui_locales: str, title: str, heading: str
) -> None:
    page = await client.authorize(ui_locales=ui_locales)
    assert f"<title>{title}</title>" in page.text
    assert heading in page.text
