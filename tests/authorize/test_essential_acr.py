"""A client can insist on an authentication context (OIDC Core §5.5.1.1, Unmet Authentication Requirements §2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.events.authorizations import AuthorizationRefused
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import claims_in

pytestmark = pytest.mark.rfc("openid-core#5.5.1.1")


@pytest.fixture
def config() -> dict[str, Any]:
    return fresh_configuration() | {
        "authentication_contexts": [
            {"acr": "weak", "amr": ["pwd"]},
            {"acr": "password", "amr": ["pwd"]},
            {"acr": "strong", "amr": ["pwd", "otp"]},
        ],
    }


def essential_acr(**acr: object) -> str:
    """The claims parameter of a client that insists on an acr."""
    return json.dumps({"id_token": {"acr": {"essential": True} | acr}})


@pytest.mark.parametrize(
    "claims",
    [
        essential_acr(value="password"),
        essential_acr(values=["strong", "password"]),
        essential_acr(),
    ],
)
async def test_an_essential_acr_that_is_met_is_in_the_id_token(app: ClientApp, claims: str) -> None:
    tokens = await app.tokens(claims=claims, acr_values="strong")
    assert claims_in(tokens["id_token"])["acr"] == "password"


@pytest.mark.rfc("9470#5")
@pytest.mark.parametrize("acr", [{"value": "strong"}, {"values": ["strong", "unheard of"]}])
async def test_an_essential_acr_that_is_not_met_is_an_error(
    app: ClientApp, acr: dict[str, object]
) -> None:
    page = await app.login(claims=essential_acr(**acr))
    assert page.url.startswith(app.redirect_uri)
    assert page.error == "unmet_authentication_requirements"


async def test_the_log_names_the_acr_that_was_not_met(app: ClientApp, events: list[object]) -> None:
    await app.login(claims=essential_acr(value="strong"))
    (refused,) = (each for each in events if isinstance(each, AuthorizationRefused))
    assert (refused.cause, refused.parameter, refused.value) == (
        "the requested acr was not satisfied",
        "acr",
        "strong",
    )


async def test_a_session_without_the_essential_acr_may_sign_in_again(app: ClientApp) -> None:
    await app.login()
    page = await app.authorize(claims=essential_acr(value="strong"))
    assert page.path == "/account/login"
    assert (await app.browser.log_in(page)).error == "unmet_authentication_requirements"


async def test_prompt_none_fails_if_the_session_lacks_the_essential_acr(app: ClientApp) -> None:
    await app.login()
    page = await app.authorize(claims=essential_acr(value="strong"), prompt="none")
    assert page.error == "login_required"


@pytest.mark.parametrize(
    ("wished", "acr_values", "acr"),
    [
        ({"value": "weak"}, None, "weak"),
        ({"values": ["strong", "weak"]}, None, "weak"),
        ({"values": ["strong", "weak"]}, "password", "weak"),
        ({"values": ["strong", "unheard of"]}, None, "password"),
        (None, None, "password"),
        (None, "weak", "weak"),
        (None, "strong", "password"),
        ({"essential": True}, "weak", "password"),
    ],
)
async def test_a_voluntary_acr_is_named_if_it_is_met_and_else_the_sessions_own(
    app: ClientApp, wished: object, acr_values: str | None, acr: str
) -> None:
    claims = json.dumps({"id_token": {"acr": wished}})
    tokens = await app.tokens(claims=claims, acr_values=acr_values)
    assert claims_in(tokens["id_token"])["acr"] == acr


@pytest.mark.parametrize(
    "claims",
    [
        '{"id_token": {"acr": {"value": "strong"}}}',
        '{"id_token": {"acr": {"essential": false, "values": ["strong"]}}}',
        '{"id_token": {"acr": null, "email": {"essential": true}}}',
        '{"id_token": null, "userinfo": {"email": null}}',
        "{}",
    ],
)
async def test_a_voluntary_acr_is_not_required(app: ClientApp, claims: str) -> None:
    assert "code" in (await app.login(claims=claims)).parameters


@pytest.mark.parametrize(
    "claims",
    [
        "no JSON",
        "[]",
        '{"id_token": 1}',
        '{"id_token": {"acr": "strong"}}',
        '{"id_token": {"acr": {"essential": true, "values": "strong"}}}',
        '{"id_token": {"acr": {"essential": true, "value": 1}}}',
    ],
)
async def test_a_malformed_acr_request_is_refused(app: ClientApp, claims: str) -> None:
    assert (await app.authorize(claims=claims)).error == "invalid_request"
