"""The request or the registration limits the age of a sign-in (OIDC Core §3.1.2.1, §2 auth_time)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import claims_in

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#2", "9470#4")


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "spa")["default_max_age"] = 600
    client_in(configuration, "native")["user_sso_lifetime"] = "10m"
    client_in(configuration, "consenting").update(require_auth_time=True, require_consent=False)
    return configuration


async def is_asked_again(app: ClientApp, **changes: str) -> bool:
    """Whether the person sees the login page."""
    return (await app.authorize(**changes)).has("login")


async def test_max_age_0_always_asks(app: ClientApp) -> None:
    await app.login()
    assert await is_asked_again(app, max_age="0")


async def test_max_age_0_with_prompt_none_is_login_required(app: ClientApp) -> None:
    await app.login()
    assert (await app.authorize(max_age="0", prompt="none")).error == "login_required"


async def test_max_age_0_accepts_the_login_that_it_asked_for(app: ClientApp) -> None:
    await app.login()
    assert "code" in (await app.login(max_age="0")).parameters


@pytest.mark.parametrize(("seconds", "asked"), [(0, False), (55, False), (60, True), (62, True)])
async def test_an_older_sign_in_is_repeated(
    app: ClientApp, clock: Clock, seconds: int, asked: bool
) -> None:
    await app.login()
    clock.forward(seconds=seconds)
    assert await is_asked_again(app, max_age="60") == asked


async def test_max_age_1_asks_after_one_second(app: ClientApp, clock: Clock) -> None:
    first = await auth_time(app, await app.login())
    clock.forward(seconds=1)
    assert (await app.authorize(max_age="1", prompt="none")).error == "login_required"
    assert await auth_time(app, await app.login(max_age="1")) >= first + 1


async def test_a_user_that_signs_in_for_max_age_is_not_asked_twice(
    app: ClientApp, clock: Clock
) -> None:
    page = await app.login(max_age="1", prompt="consent")
    clock.forward(minutes=5)
    page = await app.browser.submit(page, action="allow")
    assert "code" in page.parameters


@pytest.mark.parametrize("max_age", ["", "ten", "-1", "1.5", "+1", "１", "9" * 12])
async def test_a_max_age_that_is_not_a_number_of_seconds_is_refused(
    app: ClientApp, max_age: str
) -> None:
    page = await app.authorize(max_age=max_age)
    assert page.error == ("invalid_request" if max_age else None)


async def auth_time(app: ClientApp, page: Page) -> int:
    """Return auth_time of the ID token."""
    return int(claims_in((await app.redeem(page.parameters["code"]))["id_token"])["auth_time"])


@pytest.mark.parametrize("client_id", ["spa", "native"])
async def test_a_client_can_be_registered_for_recent_sign_ins(
    app_of: Callable[[str], ClientApp], clock: Clock, client_id: str
) -> None:
    app = app_of(client_id)
    await app.login()
    assert not await is_asked_again(app)
    clock.forward(minutes=11)
    assert await is_asked_again(app)


async def test_a_request_may_relax_default_max_age(
    app_of: Callable[[str], ClientApp], clock: Clock
) -> None:
    await app_of("spa").login()
    clock.forward(minutes=11)
    assert not await is_asked_again(app_of("spa"), max_age="3600")


async def test_a_request_cannot_relax_the_clients_sso_lifetime(
    app_of: Callable[[str], ClientApp], clock: Clock
) -> None:
    await app_of("native").login()
    clock.forward(minutes=11)
    assert await is_asked_again(app_of("native"), max_age="3600")


async def test_auth_time_is_when_the_password_was_typed(app: ClientApp, clock: Clock) -> None:
    typed = int(time.time())
    await app.login()
    clock.forward(seconds=50)
    page = await app.authorize(max_age="100")
    claims = claims_in((await app.redeem(page.parameters["code"]))["id_token"])
    assert 0 <= claims["auth_time"] - typed <= 2
    assert claims["iat"] >= typed + 50


@pytest.mark.parametrize("asked", [{"prompt": "login"}, {"max_age": "1"}, {"max_age": "0"}])
async def test_auth_time_is_that_of_the_last_sign_in(
    app: ClientApp, clock: Clock, asked: dict[str, str]
) -> None:
    first = await auth_time(app, await app.login())
    clock.forward(seconds=20)
    assert await auth_time(app, await app.authorize()) == first
    again = await auth_time(app, await app.login(**asked))
    assert again >= first + 20
    clock.forward(seconds=20)
    assert await auth_time(app, await app.authorize()) == again


@pytest.mark.rfc("9470#6.1")
async def test_auth_time_is_in_both_tokens_and_after_a_refresh(
    app: ClientApp, clock: Clock
) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    clock.forward(seconds=30)
    again = await app.refresh(tokens["refresh_token"])
    told = [tokens["access_token"], tokens["id_token"], again["access_token"], again["id_token"]]
    assert len({claims_in(token)["auth_time"] for token in told}) == 1


@pytest.mark.rfc("openid-registration#2")
async def test_a_client_may_require_auth_time(
    app_of: Callable[[str], ClientApp],
) -> None:
    tokens = await app_of("consenting").tokens()
    assert isinstance(claims_in(tokens["id_token"])["auth_time"], int)
