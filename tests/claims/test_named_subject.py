"""The claims parameter may say whom the answer has to be about (OIDC Core §3.1.2.2, §5.5.1)."""

from __future__ import annotations

import pytest

from tests.claims.conftest import BOB, SUB, claims_request
from tests.driving.client_app import ClientApp
from tests.driving.service import claims_in

pytestmark = pytest.mark.rfc("openid-core#3.1.2.2", "openid-core#5.5.1")

OF_ALICE = [
    claims_request(id_token={"sub": {"value": SUB}}),
    claims_request(id_token={"sub": {"essential": True, "values": [BOB, SUB]}}),
    claims_request(userinfo={"sub": {"value": SUB}}),
    claims_request(id_token={"sub": {"value": SUB}}, userinfo={"sub": {"value": SUB}}),
]
each_way = pytest.mark.parametrize("claims", OF_ALICE, ids=["value", "values", "userinfo", "both"])


@each_way
async def test_the_person_meant_is_not_asked(app: ClientApp, claims: str) -> None:
    await app.login()
    code = (await app.authorize(claims=claims, prompt="none")).parameters["code"]
    assert claims_in((await app.redeem(code))["id_token"])["sub"] == SUB


@each_way
async def test_sub_request_without_a_session_is_login_required(app: ClientApp, claims: str) -> None:
    assert (await app.authorize(claims=claims, prompt="none")).error == "login_required"


async def test_another_signed_in_user_is_login_required(app: ClientApp) -> None:
    await app.login("bob")
    page = await app.authorize(claims=OF_ALICE[0], prompt="none")
    assert page.error == "login_required"


async def test_another_user_is_asked_to_log_in(app: ClientApp) -> None:
    await app.login("bob")
    page = await app.authorize(claims=OF_ALICE[0])
    assert page.path == "/account/login"
    assert "code" in (await app.browser.log_in(page, "alice")).parameters


@pytest.mark.parametrize("claims", [OF_ALICE[0], OF_ALICE[2]], ids=["id_token", "userinfo"])
async def test_the_answer_is_never_about_another_person(app: ClientApp, claims: str) -> None:
    page = await app.browser.log_in(await app.authorize(claims=claims), "bob")
    assert (page.status, page.error) == (303, "login_required")


async def test_a_hint_about_another_person_contradicts_it(app: ClientApp) -> None:
    hint = (await app.tokens("bob"))["id_token"]
    app.browser.forget_cookies()
    page = await app.login(claims=OF_ALICE[0], id_token_hint=hint)
    assert page.error == "login_required"


async def test_places_that_name_different_people_are_never_met(app: ClientApp) -> None:
    claims = claims_request(id_token={"sub": {"value": SUB}}, userinfo={"sub": {"value": BOB}})
    await app.login()
    assert (await app.authorize(claims=claims, prompt="none")).error == "login_required"


@pytest.mark.parametrize("sub", [None, {"essential": True}, {"values": []}])
async def test_sub_request_without_a_value_accepts_any_user(app: ClientApp, sub: object) -> None:
    assert (
        "code" in (await app.login("bob", claims=claims_request(id_token={"sub": sub}))).parameters
    )
