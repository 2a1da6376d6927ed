"""Once client and redirect URI are trusted, every refusal goes there, with state and iss (RFC 6749 §4.1.2.1, RFC 9207)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.events.authorizations import AuthorizationRefused
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService

pytestmark = [
    pytest.mark.rfc("6749#4.1.2.1"),
    pytest.mark.usefixtures("one_store"),  # nothing is stored before a refusal
]


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "consenting")["default_response_mode"] = "fragment"
    return configuration


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": ""}, "invalid_request"),
        ({"response_type": "cod"}, "unsupported_response_type"),
        ({"response_type": "code code"}, "unsupported_response_type"),
        ({"response_type": "code,id_token"}, "unsupported_response_type"),
        ({"response_type": "none"}, "unsupported_response_type"),
        ({"response_type": "id_token"}, "unauthorized_client"),
        ({"response_mode": "header"}, "invalid_request"),
        ({"scope": None}, "invalid_scope"),
        ({"scope": "openid unknown"}, "invalid_scope"),
        ({"nonce": "n" * 301}, "invalid_request"),
        ({"nonce": "n\x00"}, "invalid_request"),
        ({"scope": "openid " + "s" * 1000}, "invalid_request"),
        ({"ui_locales": "e" * 255}, "invalid_request"),
        ({"login_hint": "h" * 255}, "invalid_request"),
        ({"acr_values": "a" * 301}, "invalid_request"),
        ({"max_age": "-1"}, "invalid_request"),
        ({"max_age": "soon"}, "invalid_request"),
        ({"max_age": "1.5"}, "invalid_request"),
        ({"max_age": "٣"}, "invalid_request"),
        ({"prompt": "none create"}, "invalid_request"),
        ({"prompt": "none wish"}, "invalid_request"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"id_token_hint": "garbage"}, "invalid_request"),
        ({"resource": "api9"}, "invalid_target"),
    ],
)
async def test_the_client_gets_a_refusal_before_the_user_is_asked(
    app: ClientApp, changes: dict[str, str | None], error: str
) -> None:
    page = await app.authorize(**changes)
    assert page.url.startswith(app.redirect_uri)
    assert (page.status, page.error) == (303, error)
    assert page.parameters["error_description"].isascii()


@pytest.mark.rfc("9207#2")
async def test_a_refusal_carries_state_and_issuer(app: ClientApp, service: RunningService) -> None:
    page = await app.authorize(scope=None, state="a & b=c#ü")
    assert page.parameters["state"] == "a & b=c#ü"
    assert page.parameters["iss"] == service.issuer


async def test_a_refusal_has_no_state_if_the_request_had_none(app: ClientApp) -> None:
    assert "state" not in (await app.authorize(scope=None, state=None)).parameters


async def test_a_state_has_no_limit_of_its_own(app: ClientApp) -> None:
    state = "s" * 5000
    assert (await app.authorize(scope=None, state=state)).parameters["state"] == state


@pytest.mark.rfc("6749#3.1")
@pytest.mark.parametrize("name", ["scope", "response_type", "nonce", "unheard_of", "max_age"])
async def test_a_parameter_sent_twice_is_refused(app: ClientApp, name: str) -> None:
    page = await app.browser.get(f"{app.url()}&{name}=1&{name}=1")
    assert (page.status, page.error) == (303, "invalid_request")
    assert page.parameters["state"] == "the-state"


@pytest.mark.rfc("6749#3.1")
async def test_a_state_that_was_sent_twice_is_not_returned(app: ClientApp) -> None:
    page = await app.browser.get(f"{app.url()}&state=another")
    assert page.error == "invalid_request"
    assert "state" not in page.parameters


@pytest.mark.rfc("openid-core#3.1.2.6")
async def test_the_registration_parameter_is_refused(app: ClientApp) -> None:
    page = await app.authorize(registration='{"client_name":"Somebody"}')
    assert page.error == "registration_not_supported"


@pytest.mark.rfc("6749#3.1")
async def test_unknown_parameters_are_ignored(app: ClientApp) -> None:
    page = await app.login(unheard_of="1", audience="api1", display="touch")
    assert "code" in page.parameters


async def test_a_refusal_without_a_response_type_goes_by_query(
    app_of: Callable[[str], ClientApp],
) -> None:
    implicit = app_of("implicit")
    missing = await implicit.authorize(response_type=None)
    assert missing.url.startswith(implicit.redirect_uri + "?error=invalid_request")
    unknown = await implicit.authorize(response_type="token code code")
    assert unknown.url.startswith(implicit.redirect_uri + "?error=unsupported_response_type")


async def test_a_refusal_goes_in_the_mode_of_the_response_type(
    app_of: Callable[[str], ClientApp],
) -> None:
    implicit = app_of("implicit")
    page = await implicit.authorize(response_type="id_token", scope="unknown")
    assert page.url.startswith(implicit.redirect_uri + "#error=invalid_scope")


async def test_a_refusal_goes_in_the_clients_own_mode(app_of: Callable[[str], ClientApp]) -> None:
    consenting = app_of("consenting")
    page = await consenting.authorize(scope="unknown")
    assert page.url.startswith(consenting.redirect_uri + "#error=invalid_scope")


async def test_a_refusal_goes_by_form_post(app: ClientApp) -> None:
    page = await app.authorize(scope="unknown", response_mode="form_post")
    assert (page.status, page.forms[0].action) == (200, app.redirect_uri)
    assert page.parameters["error"] == "invalid_scope"


async def test_a_refusal_is_an_event(app: ClientApp, events: list[object]) -> None:
    await app.authorize(scope=None)
    assert events[-2] == AuthorizationRefused(
        client_id="web", error="invalid_scope", cause="scope is missing"
    )
