"""Query, fragment, form_post: how the answer travels (OAuth 2.0 Multiple Response Types §2.1, Form Post Response Mode)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration

SCOPES = {"id_token": "openid", "token": "api1"}
WITH_TOKENS = [
    "id_token",
    "token",
    "id_token token",
    "code id_token",
    "code token",
    "code id_token token",
]


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "spa")["default_response_mode"] = "form_post"
    posting = {**client_in(configuration, "implicit"), "client_id": "posting"}
    configuration["clients"].append({**posting, "default_response_mode": "form_post"})
    return configuration


@pytest.fixture
def implicit(app_of: Callable[[str], ClientApp]) -> ClientApp:
    return app_of("implicit")


def parameters_for(response_type: str, response_mode: str | None = None) -> dict[str, Any]:
    """The parameters of a request that would be granted."""
    scope = SCOPES.get(response_type, "openid api1")
    return {"response_type": response_type, "response_mode": response_mode, "scope": scope}


@pytest.mark.rfc("6749#4.1.2")
@pytest.mark.parametrize("response_mode", [None, "query"])
async def test_a_code_comes_by_query(app: ClientApp, response_mode: str | None) -> None:
    page = await app.login(**parameters_for("code", response_mode))
    assert page.url.startswith(app.redirect_uri + "?code=ac_")


@pytest.mark.rfc("oauth-multiple-response-types#2.1")
async def test_a_code_comes_by_fragment_if_the_client_asks_for_it(app: ClientApp) -> None:
    page = await app.login(**parameters_for("code", "fragment"))
    assert page.url.startswith(app.redirect_uri + "#code=ac_")


@pytest.mark.rfc("oauth-multiple-response-types#5")
@pytest.mark.parametrize("response_type", WITH_TOKENS)
@pytest.mark.parametrize("response_mode", [None, "fragment"])
async def test_tokens_come_by_fragment(
    implicit: ClientApp, response_type: str, response_mode: str | None
) -> None:
    page = await implicit.login(**parameters_for(response_type, response_mode))
    assert page.url.startswith(implicit.redirect_uri + "#")
    assert "error" not in page.parameters


@pytest.mark.rfc("oauth-form-post#2")
@pytest.mark.parametrize("response_type", ["code", *WITH_TOKENS])
async def test_everything_comes_by_form_post(implicit: ClientApp, response_type: str) -> None:
    page = await implicit.login(**parameters_for(response_type, "form_post"))
    form = next(form for form in page.forms if form.id == "form-post")
    assert (page.status, form.action) == (200, implicit.redirect_uri)
    assert page.headers["Cache-Control"] == "no-store"
    for word in response_type.split():
        assert page.parameters["access_token" if word == "token" else word]
    assert page.parameters["state"] == "the-state"


@pytest.mark.rfc("oauth-form-post#2", "openid-core#13.2")
async def test_a_form_post_escapes_what_the_client_sent(app: ClientApp) -> None:
    state = '"><script>alert(1)</script>&amp;'
    page = await app.login(response_mode="form_post", state=state)
    assert page.parameters["state"] == state
    assert "<script>alert(1)" not in page.text


@pytest.mark.rfc("oauth-multiple-response-types#5")
@pytest.mark.parametrize("response_type", WITH_TOKENS)
async def test_a_token_never_travels_in_a_query(implicit: ClientApp, response_type: str) -> None:
    page = await implicit.authorize(**parameters_for(response_type, "query"))
    assert page.url.startswith(implicit.redirect_uri + "#error=invalid_request")


async def test_a_client_has_a_response_mode_of_its_own(app_of: Callable[[str], ClientApp]) -> None:
    page = await app_of("spa").login()
    assert page.forms[0].id == "form-post"
    assert "code" in page.parameters


async def test_a_request_may_ask_for_another_than_the_clients_own(
    app_of: Callable[[str], ClientApp],
) -> None:
    spa = app_of("spa")
    page = await spa.login(response_mode="query")
    assert page.url.startswith(spa.redirect_uri + "?code=ac_")


@pytest.mark.rfc("oauth-multiple-response-types#2.1")
async def test_a_query_for_tokens_is_refused_by_fragment_whatever_the_default_is(
    implicit: ClientApp,
) -> None:
    page = await implicit.authorize(client_id="posting", **parameters_for("id_token", "query"))
    assert page.error == "invalid_request"
    assert page.url.startswith(implicit.redirect_uri + "#error=")
