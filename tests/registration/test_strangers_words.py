"""Words that a client chose for itself are short, visible, shown as its own, and never by a link alone (RFC 7591 §5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

import pytest

from service.clients.registration.rules import unfit_name
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registering import RegisteredApp, register
from tests.driving.service import RunningService

Registering = Callable[..., Awaitable[RegisteredApp]]
pytestmark = pytest.mark.rfc("7591#5", "openid-registration#2")

NAME = "Your bank"
WORDS = {
    "client_name": NAME,
    "client_uri": "https://registered.example/home",
    "logo_uri": "https://logos.example/bank.png",
    "post_logout_redirect_uris": ["https://registered.example/bye"],
    "initiate_login_uri": "https://registered.example/start",
}
UNFIT = {
    "long": "a" * 81,
    "Braille blanks": "\u2800\u2800",
    "marks alone": "\u0301\u0301",
    "a soft hyphen": "Ba\u00adnk",
    "a grapheme joiner": "Ba\u034fnk",
    "a Hangul filler": "\u3164",
    "a half-width filler": "Bank\uffa0",
    "a Khmer vowel that is not seen": "Bank\u17b4",
    "a Mongolian selector": "Bank\u180b",
    "a joiner": "Ba\u200dnk",
    "a variation selector": "Bank\ufe0f",
    "a word joiner": "Ba\u2060nk",
    "an isolate": "\u2067Bank",
    "a shorthand control": "Bank\U0001bca0",
    "a musical control": "Bank\U0001d173",
    "a tag": "Bank\U000e0041",
    "a supplementary selector": "Bank\U000e0100",
}


@pytest.mark.parametrize("name", UNFIT.values(), ids=UNFIT)
@pytest.mark.parametrize("member", ["client_name", "client_name#de"])
async def test_a_name_that_is_long_or_invisible_is_refused(
    service: RunningService, member: str, name: str
) -> None:
    answer = await register(service, **{member: name})
    assert answer.refusal == (400, "invalid_client_metadata")
    assert answer["error_description"].startswith(f"{member}: ")


@pytest.mark.parametrize(
    "name", ["a" * 80, "Bank & Söhne", "銀行", "بنك", "Ελλάδα", "3", "🏦 Bank", "C++"]
)
async def test_a_short_visible_name_is_accepted(service: RunningService, name: str) -> None:
    assert unfit_name(name) is None
    assert (await register(service, client_name=name))["client_name"] == name


async def test_a_user_who_signs_in_is_warned_that_the_words_are_the_clients(
    registering: Registering,
) -> None:
    client = await registering(**WORDS)
    login = await client.authorize()
    assert (NAME in login.text, login.has("stranger")) == (True, True)
    consent = await client.browser.log_in(login)
    assert f"“{NAME}” asks for access" in consent.text
    assert consent.has("stranger")


@pytest.mark.parametrize("prompt", [None, "login", "consent", "select_account"])
async def test_an_authorization_link_shows_the_host_to_a_signed_in_person(
    registering: Registering, app: ClientApp, prompt: str | None
) -> None:
    client = await registering(**WORDS)
    await app.login()
    page = await client.authorize(prompt=prompt)
    assert page.path.startswith("/account/")
    assert (NAME in page.text, "logos.example" in page.text) == (False, False)
    assert "registered.example" in page.text_of("stranger")


async def test_an_account_link_shows_the_host_to_a_signed_in_person(
    registering: Registering, app: ClientApp, browser: Browser
) -> None:
    client = await registering(**WORDS)
    await app.login()
    page = await browser.get(f"/account?client_id={client.client_id}")
    assert f'data-application="{client.client_id}"' in page.text
    assert (NAME in page.text, "registered.example" in page.text) == (False, True)


@pytest.mark.rfc("openid-rp-initiated-logout#2")
async def test_a_logout_link_names_no_client_that_registered_itself(
    registering: Registering, app: ClientApp, browser: Browser
) -> None:
    client = await registering(**WORDS)
    await app.login()
    for uri in (None, *WORDS["post_logout_redirect_uris"]):
        sent = {"client_id": client.client_id} | (
            {} if uri is None else {"post_logout_redirect_uri": uri}
        )
        page = await browser.get(f"/connect/endsession?{urlencode(sent)}")
        assert (page.path, NAME in page.text) == ("/account/logout", False)


@pytest.mark.rfc("openid-rp-initiated-logout#2")
async def test_a_logout_link_names_a_client_of_the_operators(
    app: ClientApp, browser: Browser
) -> None:
    await app.login()
    page = await browser.get("/connect/endsession?client_id=web")
    assert "Web application would like to sign you out" in page.text
