"""Only the answer to this browser's own request signs in, and only once (RFC 9700 §4.7, RFC 9207)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from service.events.providers import ProviderSignInFailed
from service.events.users import SessionStarted
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import CALLBACK, ComeBack, arrived, provider_entry


@pytest.fixture
def config(faked_config: dict[str, Any]) -> dict[str, Any]:
    elsewhere = provider_entry("https://elsewhere.example", name="elsewhere")
    faked_config["identity_providers"].append(elsewhere)
    client_in(faked_config, "web")["identity_provider_restrictions"] = ["upstream"]
    client_in(faked_config, "web")["client_uri"] = "https://web.example/"
    return faked_config


def sign_ins(events: list[object]) -> int:
    """The number of sign-ins."""
    return sum(isinstance(event, SessionStarted) for event in events)


@pytest.mark.rfc("6749#10.12")
@pytest.mark.parametrize("query", ["", "?code=c", "?code=c&state=foreign", "?state=", "?error=x"])
async def test_an_answer_to_no_request_is_an_error_page(browser: Browser, query: str) -> None:
    page = await browser.get(CALLBACK + query)
    assert (page.status, page.error) == (400, "invalid_request")


@pytest.mark.rfc("openid-core#4")
async def test_an_answer_that_comes_too_late_leads_back_to_the_client(
    fake: FakeProvider, app: ClientApp, clock: Clock
) -> None:
    answer = fake.answer(await app.authorize(acr_values="idp:upstream"))
    clock.forward(minutes=16)
    page = await app.browser.get(answer)
    assert (page.status, page.error) == (400, "invalid_request")
    assert page.element("start-again")["href"] == "https://web.example/"


@pytest.mark.rfc("6749#3.1")
async def test_answer_with_a_repeated_parameter_is_refused(
    fake: FakeProvider, app: ClientApp
) -> None:
    sent = await app.authorize(acr_values="idp:upstream")
    page = await app.browser.get(fake.answer(sent) + "&state=another")
    assert (page.status, page.error) == (400, "invalid_request")


@pytest.mark.rfc("9700#4.7")
async def test_store_holds_nothing_that_opens_the_parked_request(
    fake: FakeProvider, app: ClientApp
) -> None:
    sent = await app.authorize(acr_values="idp:upstream", login_hint="alice@example.com")
    parked_id = sent.parameters["state"].partition(".")[2]
    kv = app.service.features.shared.kv
    stored = [await kv.get(key) async for key in kv.find_keys("ts:*:p[ks]")]
    assert len(stored) == 2
    assert not any(told in str(stored) for told in (parked_id, "alice", "web.example"))
    assert arrived(await app.browser.get(fake.answer(sent)))


@pytest.mark.rfc("9700#4.7")
async def test_login_response_in_another_browser_is_refused(
    fake: FakeProvider, app: ClientApp, events: list[object]
) -> None:
    answer = fake.answer(await app.authorize(acr_values="idp:upstream"))
    victim = Browser(app.service.issuer)
    page = await victim.get(answer)
    await victim.close()
    assert (page.status, page.error, sign_ins(events)) == (400, "invalid_request", 0)
    assert arrived(await app.browser.get(answer))


async def test_an_answer_works_once(
    fake: FakeProvider, app: ClientApp, events: list[object]
) -> None:
    answer = fake.answer(await app.authorize(acr_values="idp:upstream"))
    assert arrived(await app.browser.get(answer))
    again = await app.browser.get(answer)
    assert (again.status, again.error, sign_ins(events)) == (400, "invalid_request", 1)


async def test_one_of_many_simultaneous_answers_signs_in(
    fake: FakeProvider, app: ClientApp, events: list[object]
) -> None:
    answer = fake.answer(await app.authorize(acr_values="idp:upstream"))
    await asyncio.gather(*[app.browser.get(answer) for _ in range(20)])
    assert (sign_ins(events), len(fake.forms)) == (1, 1)


async def test_an_answer_comes_within_a_quarter_of_an_hour(
    fake: FakeProvider, app: ClientApp, clock: Clock
) -> None:
    answer = fake.answer(await app.authorize(acr_values="idp:upstream"))
    clock.forward(minutes=16)
    assert (await app.browser.get(answer)).status == 400


@pytest.mark.rfc("9207#2.4")
@pytest.mark.parametrize("answer", [{}, {"error": "access_denied", "code": None}])
async def test_an_answer_from_another_issuer_is_refused(
    fake: FakeProvider, come_back: ComeBack, events: list[object], answer: dict[str, str | None]
) -> None:
    page = await come_back(answer | {"iss": "https://elsewhere.example"})
    assert (page.status, page.error) == (400, "invalid_request")
    assert fake.forms == []
    cause = "the iss of its answer is that of another issuer"
    assert ProviderSignInFailed(provider="upstream", cause=cause) in events


@pytest.mark.rfc("9207#2.4")
async def test_an_answer_names_its_issuer_where_the_provider_says_so(
    fake: FakeProvider, come_back: ComeBack, events: list[object]
) -> None:
    fake.metadata = {"authorization_response_iss_parameter_supported": True}
    assert (await come_back()).status == 400
    cause = "its answer lacks iss, which its metadata promises"
    assert ProviderSignInFailed(provider="upstream", cause=cause) in events
    assert arrived(await come_back({"iss": fake.issuer}))


ERRORS = {
    "access_denied": ("did not sign you in", "it answered access_denied"),
    "login_required": ("did not sign you in", "it answered login_required"),
    "server_error": ("cannot be reached", "it answered server_error"),
    "temporarily_unavailable": ("cannot be reached", "it answered temporarily_unavailable"),
    "<script>": ("did not sign you in", "it answered an error without an ordinary code"),
}


@pytest.mark.rfc("openid-core#3.1.2.6")
@pytest.mark.parametrize("error", ERRORS)
async def test_error_of_the_provider_is_shown_and_the_password_still_works(
    come_back: ComeBack, app: ClientApp, events: list[object], error: str
) -> None:
    page = await come_back({"code": None, "error": error, "error_description": "theirs"})
    shown, cause = ERRORS[error]
    assert page.text_of("login-error").startswith(f"Upstream {shown}")
    assert ProviderSignInFailed(provider="upstream", cause=cause) in events
    assert arrived(await app.browser.log_in(page))


async def test_login_response_without_a_code_is_refused(
    come_back: ComeBack, events: list[object]
) -> None:
    assert (await come_back({"code": None})).has("login-error")
    assert sign_ins(events) == 0


async def test_a_request_that_was_answered_meanwhile_is_an_error_page(
    fake: FakeProvider, app: ClientApp
) -> None:
    sent = await app.authorize(acr_values="idp:upstream")
    login = await app.authorize()
    there = await app.browser.get(login.provider_links["upstream"])
    assert arrived(await app.browser.log_in(login))
    assert (await app.browser.get(fake.answer(there))).status == 400
    assert arrived(await app.browser.get(fake.answer(sent)))


async def test_login_at_a_provider_whose_issuer_has_changed_is_refused(
    fake: FakeProvider, app: ClientApp, config: dict[str, Any]
) -> None:
    answer = fake.answer(await app.authorize(acr_values="idp:upstream"))
    config["identity_providers"][0]["issuer"] = "https://moved.example"
    app.service.reload(config)
    assert (await app.browser.get(answer)).status == 400


async def test_a_client_without_that_provider_asks_again(
    fake: FakeProvider, app: ClientApp, config: dict[str, Any]
) -> None:
    answer = fake.answer(await app.authorize(acr_values="idp:upstream"))
    client_in(config, "web")["identity_provider_restrictions"] = ["elsewhere"]
    app.service.reload(config)
    page = await app.browser.get(answer)
    assert (page.path, list(page.provider_links)) == ("/account/login", ["elsewhere"])
