"""Parameters that change the pages: login_hint, ui_locales, display, acr_values (OIDC Core §3.1.2.1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import claims_in

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1")


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "spa")["default_acr_values"] = ["tenant:acme", "strong", "weak"]
    configuration["users"]["list"][0]["claims"]["tenant"] = "acme"
    return configuration | {
        "tenants": [{"name": "acme", "display_name": "Acme & Sons"}],
        "authentication_contexts": [
            {"acr": "weak", "amr": ["pwd"]},
            {"acr": "password", "amr": ["pwd"]},
            {"acr": "strong", "amr": ["pwd", "otp"]},
        ],
    }


async def test_login_hint_fills_the_user_name(app: ClientApp) -> None:
    page = await app.authorize(login_hint='alice "><b>')
    assert page.element("username")["value"] == 'alice "><b>'


async def test_built_in_title_is_the_whole_title_of_the_login_page(app: ClientApp) -> None:
    assert "<title>Sign in</title>" in (await app.authorize()).text


async def test_a_name_that_was_typed_is_kept_after_a_wrong_password(app: ClientApp) -> None:
    page = await app.authorize(login_hint="bob")
    page = await app.browser.log_in(page, "alice", password="wrong")
    assert page.element("username")["value"] == "alice"
    assert "value" not in page.element("password")


async def test_wish_to_stay_signed_in_is_kept_after_a_wrong_password(app: ClientApp) -> None:
    page = await app.authorize()
    page = await app.browser.log_in(page, password="wrong", remember="true")
    assert "checked" in page.element("remember")
    assert "checked" not in (await app.browser.get(f"{page.url}?remember=true")).element("remember")


@pytest.mark.parametrize(
    ("ui_locales", "accept_language", "lang"),
    [
        (None, None, "en"),
        ("de", None, "de"),
        ("fr-CA fr en", None, "fr"),
        ("tlh es", "de", "es"),
        ("tlh", "de", "de"),
        (None, "fr;q=0.5, de;q=0.9", "de"),
        (None, "de-AT", "de"),
        (None, "*", "en"),
        ("../../etc", "\"';", "en"),
    ],
)
async def test_the_login_page_is_in_the_users_language(
    app: ClientApp, ui_locales: str | None, accept_language: str | None, lang: str
) -> None:
    headers = {} if accept_language is None else {"Accept-Language": accept_language}
    page = await app.browser.get(app.url(ui_locales=ui_locales), headers=headers)
    # The redirect to the page carries no header of the first request.
    page = await app.browser.get(page.url, headers=headers)
    assert (page.lang, page.headers["Content-Language"]) == (lang, lang)


async def test_the_pages_after_the_login_are_in_the_users_language(app: ClientApp) -> None:
    page = await app.authorize(ui_locales="de", prompt="consent")
    page = await app.browser.log_in(page, password="wrong")
    assert page.lang == "de"
    page = await app.browser.log_in(page)
    assert (page.path, page.lang) == ("/account/consent", "de")


@pytest.mark.parametrize("display", ["page", "popup", "touch", "wap", "hologram"])
async def test_display_is_accepted(app: ClientApp, display: str) -> None:
    assert (await app.authorize(display=display)).has("login")


async def test_a_tenant_reaches_the_pages(app: ClientApp) -> None:
    assert "Acme &amp; Sons" in (await app.authorize(acr_values="tenant:acme")).text


@pytest.mark.parametrize("acr_values", ["tenant:unknown", "idp:unknown", "tenant:", "idp:", "idp"])
async def test_unknown_acr_values_are_ignored(app: ClientApp, acr_values: str) -> None:
    page = await app.authorize(acr_values=acr_values)
    assert page.path == "/account/login"
    assert "unknown" not in page.text


LONGEST = "a" * 100


@pytest.mark.parametrize(
    ("acr_values", "shown"),
    [
        ("tenant:acme", "acme"),
        ("weak tenant:Acme_Sons-2.eu", "Acme_Sons-2.eu"),
        (f"tenant:{LONGEST}", LONGEST),
        ("tenant:<b> tenant:acme", "acme"),
        (f"tenant:{LONGEST}a", None),
        ("tenant:", None),
        ("tenant:ac+me", None),
        ("tenant:acmé", None),
    ],
)
async def test_any_proper_tenant_name_reaches_the_page_where_no_tenants_are_configured(
    app: ClientApp, config: dict[str, Any], acr_values: str, shown: str | None
) -> None:
    app.service.reload(config | {"tenants": []})
    page = await app.authorize(acr_values=acr_values)
    assert page.path == "/account/login"
    hosts = re.findall('<p class="host"><bdi>(.*?)</bdi>', page.text)
    assert hosts == ([shown] if shown else [])


@pytest.mark.parametrize(
    ("acr_values", "acr"),
    [
        (None, "password"),
        ("weak", "weak"),
        ("strong password weak", "password"),
        ("weak password", "weak"),
        ("strong", None),
        ("tenant:acme", "password"),
    ],
)
async def test_the_first_context_that_is_met_is_the_acr(
    app: ClientApp, acr_values: str | None, acr: str | None
) -> None:
    tokens = await app.tokens(acr_values=acr_values)
    assert claims_in(tokens["id_token"]).get("acr") == acr
    assert claims_in(tokens["access_token"]).get("acr") == acr


@pytest.mark.rfc("openid-registration#2")
@pytest.mark.parametrize(
    ("acr_values", "acr", "shown"), [(None, "weak", True), ("password", "password", False)]
)
async def test_default_acr_values_count_in_a_request_without_acr_values(
    app_of: Callable[[str], ClientApp], acr_values: str | None, acr: str, shown: bool
) -> None:
    page = await app_of("spa").authorize(acr_values=acr_values)
    assert ("Acme &amp; Sons" in page.text) == shown
    tokens = await app_of("spa").tokens(acr_values=acr_values)
    assert claims_in(tokens["id_token"])["acr"] == acr


@pytest.mark.parametrize(
    "login_hint", ["alice", "bob@example.com", "nobody", "+1 555 0100", "n" * 242 + "@example.com"]
)
async def test_a_login_hint_does_not_choose_the_user(app: ClientApp, login_hint: str) -> None:
    assert "code" in (await app.login(login_hint=login_hint)).parameters
    assert "code" in (await app.authorize(login_hint="bob", prompt="none")).parameters
