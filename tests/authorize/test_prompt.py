"""The prompt parameter asks for pages, or for none (OIDC Core §3.1.2.1, §3.1.2.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1")


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "spa")["enable_local_login"] = False
    client_in(configuration, "native")["user_sso_lifetime"] = "1h"
    return configuration


async def test_a_user_without_a_session_logs_in(app: ClientApp) -> None:
    page = await app.authorize()
    assert (page.status, page.path) == (200, "/account/login")
    assert page.has("username")
    assert page.has("password")


async def test_a_user_with_a_session_is_not_asked(app: ClientApp) -> None:
    await app.login()
    assert "code" in (await app.authorize()).parameters


async def test_prompt_login_asks_again(app: ClientApp, clock: Clock) -> None:
    first = await app.tokens()
    clock.forward(seconds=10)
    page = await app.authorize(prompt="login")
    assert page.path == "/account/login"
    code = (await app.browser.log_in(page)).parameters["code"]
    again = claims_in((await app.redeem(code))["id_token"])
    assert again["auth_time"] >= claims_in(first["id_token"])["auth_time"] + 10


async def test_prompt_consent_asks_for_a_client_that_needs_no_consent(app: ClientApp) -> None:
    page = await app.login(prompt="consent")
    assert page.has("consent-allow")
    assert "code" in (await app.browser.submit(page, action="allow")).parameters


async def test_prompt_login_consent_asks_for_both(app: ClientApp) -> None:
    await app.login()
    page = await app.authorize(prompt="consent login")
    assert page.path == "/account/login"
    assert (await app.browser.log_in(page)).path == "/account/consent"


@pytest.mark.parametrize(
    ("prompt", "paths"),
    [
        ("login consent", ["login", "consent"]),
        ("select_account login", ["select", "login"]),
        ("consent select_account", ["select", "consent"]),
        ("login consent select_account", ["select", "login", "consent"]),
        ("login login", ["login"]),
    ],
)
async def test_several_prompts_are_asked_one_after_the_other(
    app: ClientApp, prompt: str, paths: list[str]
) -> None:
    await app.login()
    page, walked = await app.authorize(prompt=prompt), []
    while page.url.startswith(app.service.issuer):
        walked.append(page.path.rpartition("/")[2])
        page = await answer_page(app, page)
    assert (walked, page.error) == (paths, None)


async def answer_page(app: ClientApp, page: Page) -> Page:
    """The page after this one, where the person agrees to everything."""
    if page.has("login"):
        return await app.browser.log_in(page)
    action = "continue" if page.has("account-continue") else "allow"
    return await app.browser.submit(page, action=action)


async def test_select_account_offers_the_account_that_is_signed_in(app: ClientApp) -> None:
    await app.login()
    page = await app.authorize(prompt="select_account")
    assert page.has("account-continue")
    assert "Alice Smith" in page.text_of("account-continue")
    assert "code" in (await app.browser.submit(page, action="continue")).parameters


async def test_select_account_lets_another_user_sign_in(app: ClientApp) -> None:
    await app.login()
    page = await app.authorize(prompt="select_account")
    page = await app.browser.log_in(await app.browser.submit(page, action="other"), "bob")
    tokens = await app.redeem(page.parameters["code"])
    assert claims_in(tokens["id_token"])["sub"] == "88421113"


async def test_select_account_is_the_login_without_a_session(app: ClientApp) -> None:
    page = await app.login(prompt="select_account")
    assert "code" in page.parameters


@pytest.mark.rfc("6749#4.1.2.1")
@pytest.mark.parametrize("prompt", ["login", "select_account", "consent"])
async def test_a_user_may_cancel(app: ClientApp, prompt: str) -> None:
    await app.login()
    page = await app.authorize(prompt=prompt)
    page = await app.browser.submit(page, action="cancel", username=None, password=None)
    assert page.parameters | {"error_description": "", "session_state": ""} == {
        "error": "access_denied",
        "error_description": "",
        "session_state": "",
        "state": "the-state",
        "iss": app.service.issuer,
    }


@pytest.mark.parametrize(
    "prompt",
    ["none login", "none consent", "login none", "none create", "none unknown"],
)
async def test_a_prompt_that_makes_no_sense_is_refused(app: ClientApp, prompt: str) -> None:
    page = await app.authorize(prompt=prompt)
    assert (page.status, page.error) == (303, "invalid_request")


async def test_prompt_none_answers_at_once_if_no_page_is_needed(app: ClientApp) -> None:
    await app.login()
    assert "code" in (await app.authorize(prompt="none")).parameters


@pytest.mark.rfc("openid-core#3.1.2.6")
@pytest.mark.parametrize("prompt", ["none", "none ", " none"])
async def test_prompt_none_needs_a_session(app: ClientApp, prompt: str) -> None:
    assert (await app.authorize(prompt=prompt)).error == "login_required"


@pytest.mark.rfc("openid-core#3.1.2.6")
async def test_prompt_none_needs_the_consent(app_of: Callable[[str], ClientApp]) -> None:
    await app_of("web").login()
    page = await app_of("consenting").authorize(prompt="none")
    assert page.error == "consent_required"


@pytest.mark.rfc("openid-core#3.1.2.6")
async def test_prompt_none_needs_a_sign_in_that_the_client_accepts(
    app_of: Callable[[str], ClientApp],
) -> None:
    await app_of("web").login()
    assert (await app_of("spa").authorize(prompt="none")).error == "login_required"


@pytest.mark.rfc("openid-core#3.1.2.6")
async def test_prompt_none_needs_a_recent_enough_sign_in(
    app_of: Callable[[str], ClientApp], clock: Clock
) -> None:
    await app_of("web").login()
    clock.forward(minutes=61)
    assert (await app_of("native").authorize(prompt="none")).error == "login_required"
    assert (await app_of("web").authorize(prompt="none", max_age="60")).error == "login_required"


async def test_prompt_none_parks_nothing(service: RunningService, app: ClientApp) -> None:
    page = await app.authorize(prompt="none", response_mode="fragment")
    assert page.url.startswith(app.redirect_uri + "#error=login_required")
    assert [key async for key in service.features.shared.kv.find_keys("ts:*:pk*")] == []
