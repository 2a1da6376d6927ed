"""The id_token_hint names the user that the client expects (OIDC Core §3.1.2.1 id_token_hint, §3.1.2.2)."""

from __future__ import annotations

import base64

import pytest

from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#3.1.2.2")


@pytest.fixture
async def alices(app: ClientApp) -> str:
    """An ID token of alice, with a session in this browser."""
    return str((await app.tokens())["id_token"])


async def test_the_hinted_user_is_not_asked_if_signed_in(app: ClientApp, alices: str) -> None:
    assert "code" in (await app.authorize(id_token_hint=alices)).parameters
    assert "code" in (await app.authorize(id_token_hint=alices, prompt="none")).parameters


async def test_an_expired_id_token_hint_is_accepted(app: ClientApp, clock: Clock) -> None:
    hint = str((await app.tokens())["id_token"])
    clock.forward(hours=1)
    assert "code" in (await app.authorize(id_token_hint=hint, prompt="none")).parameters


async def test_a_hint_without_a_session_is_login_required(app: ClientApp, alices: str) -> None:
    app.browser.forget_cookies()
    page = await app.authorize(id_token_hint=alices, prompt="none")
    assert page.error == "login_required"


async def test_a_hint_of_another_user_is_login_required(app: ClientApp, alices: str) -> None:
    app.browser.forget_cookies()
    await app.login("bob")
    page = await app.authorize(id_token_hint=alices, prompt="none")
    assert page.error == "login_required"


async def test_another_user_is_asked_to_log_in(app: ClientApp, alices: str) -> None:
    app.browser.forget_cookies()
    await app.login("bob")
    page = await app.authorize(id_token_hint=alices)
    assert page.path == "/account/login"
    assert "code" in (await app.browser.log_in(page, "alice")).parameters


async def test_the_answer_is_never_about_another_user(app: ClientApp, alices: str) -> None:
    app.browser.forget_cookies()
    page = await app.authorize(id_token_hint=alices)
    page = await app.browser.log_in(page, "bob")
    assert (page.status, page.error) == (303, "login_required")


@pytest.mark.parametrize("prompt", [None, "none"])
@pytest.mark.parametrize("fault", ["garbage", "signature", "none", "access token", "foreign"])
async def test_a_hint_that_is_not_an_id_token_of_this_service_is_refused(
    app: ClientApp, service: RunningService, fault: str, prompt: str | None
) -> None:
    tokens = await app.tokens()
    head, body, signature = tokens["id_token"].split(".")
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').rstrip(b"=").decode()
    key = service.features.ring.signing_key(None)
    claims = {"iss": "https://other.example", "sub": "818727", "aud": "web"}
    hint = {
        "garbage": "not.a.token",
        "signature": f"{head}.{body}.{signature[::-1]}",
        "none": f"{unsigned}.{body}.",
        "access token": tokens["access_token"],
        "foreign": await key.sign(claims, typ="JWT"),
    }[fault]
    page = await app.authorize(id_token_hint=hint, prompt=prompt)
    assert page.error == "invalid_request"
