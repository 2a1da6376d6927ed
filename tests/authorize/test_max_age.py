"""How old a sign-in may be, by the request or by the client's registration (OIDC Core §3.1.2.1, §2 auth_time)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import claims_in

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#2")


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "spa")["default_max_age"] = 600
    client_in(configuration, "native")["user_sso_lifetime"] = "10m"
    return configuration


async def is_asked_again(app: ClientApp, **changes: str) -> bool:
    """Whether the person sees the login page."""
    return (await app.authorize(**changes)).has("login")


async def test_zero_asks_always(app: ClientApp) -> None:
    await app.login()
    assert await is_asked_again(app, max_age="0")


async def test_zero_and_none_contradict_each_other(app: ClientApp) -> None:
    await app.login()
    assert (await app.authorize(max_age="0", prompt="none")).error == "login_required"


async def test_zero_is_content_with_the_login_that_it_asked_for(app: ClientApp) -> None:
    await app.login()
    assert "code" in (await app.login(max_age="0")).parameters


@pytest.mark.parametrize(("seconds", "asked"), [(0, False), (59, False), (62, True)])
async def test_an_older_sign_in_is_repeated(
    app: ClientApp, clock: Clock, seconds: int, asked: bool
) -> None:
    await app.login()
    clock.forward(seconds=seconds)
    assert await is_asked_again(app, max_age="60") == asked


async def test_one_second_is_an_age(app: ClientApp, clock: Clock) -> None:
    await app.login()
    clock.forward(seconds=3)
    assert await is_asked_again(app, max_age="1")
    assert "code" in (await app.login(max_age="1")).parameters


@pytest.mark.parametrize("client_id", ["spa", "native"])
async def test_a_client_may_always_ask_for_a_young_sign_in(
    app_of: Callable[[str], ClientApp], clock: Clock, client_id: str
) -> None:
    app = app_of(client_id)
    await app.login()
    assert not await is_asked_again(app)
    clock.forward(minutes=11)
    assert await is_asked_again(app)


async def test_a_request_may_relax_the_default(
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
