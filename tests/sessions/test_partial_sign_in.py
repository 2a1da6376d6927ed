"""A user who lacks a second factor has no session (OIDC Core §3.1.2.3, RFC 9470 §4, ASVS 6.3)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from service.authorize.interaction import Step
from service.events.users import SessionStarted
from service.protocol.errors import InteractionRequired
from tests.conftest import Clock
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService, claims_in
from tests.sessions.second_factor import (
    CODE,
    FOR_ACR,
    FOR_EVERYBODY,
    PATH,
    install,
    is_missing_from,
)

pytestmark = pytest.mark.rfc("openid-core#3.1.2.3", "9470#4")

PARTIAL = "partial_sign_in"


@pytest.fixture
def config(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> dict[str, Any]:
    step = getattr(request, "param", FOR_EVERYBODY)
    configuration = fresh_configuration()
    configuration["ui"] |= install(monkeypatch, step, tmp_path / "templates")
    configuration["authentication_contexts"] = [
        {"acr": "password", "amr": ["pwd"]},
        {"acr": "strong", "amr": ["pwd", "otp"]},
    ]
    return configuration


LATER = Step(
    path=PATH,
    refusal=InteractionRequired,
    is_missing_from=lambda unfinished: IS_NEW and is_missing_from(unfinished),
)
IS_NEW = False
"""Whether the step has been added, since sessions without it began."""
for_acr = pytest.mark.parametrize("config", [FOR_ACR], indirect=True)
INSISTING = json.dumps({"id_token": {"acr": {"essential": True, "value": "strong"}}})


@pytest.fixture
async def half(app: ClientApp) -> Page:
    """The page of the second factor, after the password."""
    page = await app.login()
    assert page.path == PATH
    return page


async def give_code(app: ClientApp, page: Page) -> Page:
    """Fill in the page of the second factor."""
    return await app.browser.submit(page, otp=CODE)


async def test_session_begins_with_both_methods_after_the_second_factor(
    app: ClientApp, half: Page, events: list[object]
) -> None:
    assert not [each for each in events if isinstance(each, SessionStarted)]
    done = await give_code(app, half)
    tokens = await app.redeem(done.parameters["code"])
    assert claims_in(tokens["id_token"])["amr"] == ["pwd", "otp"]
    (started,) = [each for each in events if isinstance(each, SessionStarted)]
    assert started.amr == ("pwd", "otp")
    assert PARTIAL not in app.browser.cookies


@pytest.mark.usefixtures("half")
async def test_password_alone_sets_no_session_cookie(app: ClientApp) -> None:
    assert "sid" not in app.browser.cookies
    assert PARTIAL in app.browser.cookies


@pytest.mark.usefixtures("half")
async def test_no_key_of_the_store_has_the_cookie_in_it(app: ClientApp) -> None:
    keys = [key async for key in app.service.features.shared.kv.find_keys("*")]
    assert keys
    assert not [key for key in keys if app.browser.cookies[PARTIAL] in key]


@pytest.mark.usefixtures("half")
async def test_password_alone_opens_no_account_page(app: ClientApp) -> None:
    assert (await app.browser.get("/account")).path == "/account/login"


@pytest.mark.usefixtures("half")
async def test_password_alone_is_login_required_under_prompt_none(app: ClientApp) -> None:
    assert (await app.authorize(prompt="none")).error == "login_required"


@pytest.mark.usefixtures("half")
async def test_password_alone_does_not_count_for_another_request(app: ClientApp) -> None:
    assert (await app.authorize()).path == "/account/login"


async def test_password_and_second_factor_are_given_for_the_same_request(
    app: ClientApp, half: Page
) -> None:
    other = (await app.authorize()).parameters["request"]
    fields = dict(half.forms[0].fields) | {"request": other, "otp": CODE}
    assert (await app.browser.post(PATH, fields)).path == "/account/login"
    assert "sid" not in app.browser.cookies


async def test_password_alone_opens_no_consent_page(app: ClientApp) -> None:
    app = ClientApp(app.service, app.browser, "consenting")
    half = await app.login()
    consent = f"/account/consent?request={half.parameters['request']}"
    assert (await app.browser.get(consent)).path == PATH
    fields = dict(half.forms[0].fields) | {"action": "allow", "scope": "openid"}
    assert (await app.browser.post("/account/consent", fields)).path == PATH


@pytest.mark.parametrize("config", [LATER], indirect=True)
async def test_session_that_lacks_a_new_step_opens_its_page_before_the_account(
    app: ClientApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    await app.login()
    monkeypatch.setattr("tests.sessions.test_partial_sign_in.IS_NEW", True)
    page = await app.browser.get("/account")
    assert page.path == PATH
    assert (await give_code(app, page)).path == "/account"


async def test_sign_in_that_lacks_a_factor_ends_with_all_that_the_user_has(
    service: RunningService, app: ClientApp, half: Page, clock: Clock
) -> None:
    clock.forward(seconds=5)
    await service.features.shared.user_ending.end("818727")
    clock.forward(seconds=5)
    refused = await give_code(app, half)
    assert (refused.status, "sign in again" in refused.text) == (400, True)
    assert (await app.authorize(prompt="none")).error == "login_required"
    assert "code" in (await give_code(app, await app.login())).parameters


async def test_wrong_code_is_asked_again(app: ClientApp, half: Page) -> None:
    assert (await app.browser.submit(half, otp="111111")).path == PATH
    assert "sid" not in app.browser.cookies


async def test_cancelled_sign_in_starts_again(app: ClientApp, half: Page) -> None:
    cancelled = await app.browser.submit(half, action="cancel")
    assert cancelled.error == "access_denied"
    assert (await give_code(app, half)).error == "invalid_request"
    assert (await app.authorize()).path == "/account/login"


async def test_expired_sign_in_starts_again(app: ClientApp, clock: Clock) -> None:
    half = await app.login()
    clock.forward(minutes=14)
    later = await app.browser.log_in(await app.authorize())
    clock.forward(minutes=2)
    assert (await give_code(app, half)).error == "invalid_request"
    assert "code" in (await give_code(app, later)).parameters


async def test_partial_sign_in_of_another_browser_is_refused(
    app: ClientApp, half: Page, service: RunningService
) -> None:
    thief = Browser(service.issuer)
    page = await thief.get("/account/login")
    thief.put_cookies({PARTIAL: app.browser.cookies[PARTIAL]})
    csrf = dict(page.forms[0].fields)["csrf"]
    assert (await thief.post(PATH, {"csrf": csrf, "otp": CODE})).path == "/account/login"
    assert (await thief.get(half.url)).error == "invalid_request"
    assert "sid" not in thief.cookies
    await thief.close()


async def test_partial_sign_in_is_continued_once(app: ClientApp, half: Page) -> None:
    before = app.browser.cookies[PARTIAL]
    await give_code(app, half)
    app.browser.put_cookies({PARTIAL: before})
    assert (await give_code(app, half)).error == "invalid_request"


async def test_partial_sign_in_to_the_own_account_is_continued_once(
    browser: Browser, events: list[object]
) -> None:
    half = await browser.log_in(await browser.get("/account/login"))
    before = dict(browser.cookies)
    forms = [dict(half.forms[0].fields) | {"otp": CODE} for _ in range(5)]
    await asyncio.gather(*(browser.post(PATH, form) for form in forms))
    browser.forget_cookies()
    browser.put_cookies(before)
    assert (await browser.submit(half, otp=CODE)).path == "/account/login"
    assert len([each for each in events if isinstance(each, SessionStarted)]) == 1


async def test_own_account_opens_after_the_second_factor(browser: Browser) -> None:
    half = await browser.log_in(await browser.get("/account/login"))
    assert half.path == PATH
    assert (await browser.submit(half, otp=CODE)).path == "/account"


async def test_store_holds_no_part_of_the_sign_in_in_the_clear(
    app: ClientApp, half: Page, service: RunningService
) -> None:
    key = [each async for each in service.features.shared.kv.find_keys("*:pl")]
    record = await service.features.shared.kv.read(
        service.features.shared.stores.partial_sign_ins.read(_selector(key))
    )
    assert app.browser.cookies[PARTIAL] not in str((key, record))
    assert half.parameters["request"] not in str((key, record))
    assert "818727" not in str(record)


def _selector(keys: list[str]) -> str:
    (key,) = keys
    return key.split("{")[1].split("}")[0]


@for_acr
async def test_unmet_acr_picks_the_second_factor_alone(app: ClientApp) -> None:
    await app.login()
    page = await app.authorize(claims=INSISTING)
    assert page.path == PATH
    tokens = await app.redeem((await give_code(app, page)).parameters["code"])
    claims = claims_in(tokens["id_token"])
    assert (claims["acr"], claims["amr"]) == ("strong", ["pwd", "otp"])


@for_acr
async def test_unmet_acr_picks_the_second_factor_after_the_password(app: ClientApp) -> None:
    page = await app.login(claims=INSISTING)
    assert page.path == PATH
    assert "code" in (await give_code(app, page)).parameters


@for_acr
async def test_second_factor_is_not_asked_where_no_acr_demands_it(app: ClientApp) -> None:
    assert "code" in (await app.login()).parameters


@for_acr
async def test_unmet_acr_is_refused_under_prompt_none_with_the_error_of_its_step(
    app: ClientApp,
) -> None:
    await app.login()
    page = await app.authorize(claims=INSISTING, prompt="none")
    assert page.error == "interaction_required"
