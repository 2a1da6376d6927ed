"""Each way in which a response can travel carries it as one signed JWT (JARM §2.1, §2.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.protocol.authorization_request import RESPONSE_TYPES
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, header_of
from tests.jarm.conftest import Read

SCOPES = {"id_token": "openid", "token": "api1"}
WITH_TOKENS = [kind.name for kind in RESPONSE_TYPES if kind.name != "code"]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A default mode of `spa`, and an algorithm for `consenting`."""
    config["signing"]["algorithms"] = ["ES256", "PS256"]
    client_in(config, "spa")["default_response_mode"] = "jwt"
    client_in(config, "consenting")["authorization_signed_response_alg"] = "PS256"
    return config


@pytest.fixture
def implicit(app_of: Callable[[str], ClientApp]) -> ClientApp:
    return app_of("implicit")


async def login(app: ClientApp, response_type: str, response_mode: str) -> Page:
    scope = SCOPES.get(response_type, "openid api1")
    return await app.login(response_type=response_type, response_mode=response_mode, scope=scope)


def way_of(page: Page) -> str:
    """The response mode by which a page came to the client."""
    if page.forms:
        return "form_post"
    return "fragment" if "#" in page.url else "query"


@pytest.mark.rfc("jarm#2.1", "jarm#2.3.1")
async def test_a_code_comes_in_a_jwt_that_is_all_of_the_query(app: ClientApp, read: Read) -> None:
    page = await app.login(response_mode="query.jwt")
    assert page.url.startswith(app.redirect_uri + "?response=")
    claims = await read(page)
    assert claims.keys() == {"code", "state", "session_state"}
    assert (await app.redeem(claims["code"]))["scope"] == "api1 openid"


@pytest.mark.rfc("jarm#2.1", "jarm#2.3.2")
@pytest.mark.parametrize("response_type", WITH_TOKENS)
async def test_tokens_come_in_a_jwt_in_the_fragment(
    implicit: ClientApp, read: Read, response_type: str
) -> None:
    page = await login(implicit, response_type, "fragment.jwt")
    assert page.url.startswith(implicit.redirect_uri + "#response=")
    claims = await read(page, "implicit")
    words = {"access_token" if word == "token" else word for word in response_type.split()}
    assert words < claims.keys()
    assert claims["state"] == "the-state"


@pytest.mark.rfc("jarm#2.3.3", "oauth-form-post#2")
@pytest.mark.parametrize("response_type", ["code", *WITH_TOKENS])
async def test_a_jwt_may_be_posted(implicit: ClientApp, read: Read, response_type: str) -> None:
    page = await login(implicit, response_type, "form_post.jwt")
    assert (page.status, page.forms[0].action) == (200, implicit.redirect_uri)
    assert "error" not in await read(page, "implicit")


@pytest.mark.rfc("jarm#2.3.4")
@pytest.mark.parametrize("response_type", ["code", *WITH_TOKENS])
async def test_jwt_alone_means_the_mode_of_the_response_type(
    implicit: ClientApp, read: Read, response_type: str
) -> None:
    page = await login(implicit, response_type, "jwt")
    assert way_of(page) == ("query" if response_type == "code" else "fragment")
    assert "error" not in await read(page, "implicit")


@pytest.mark.rfc("jarm#2.3.1")
@pytest.mark.parametrize("response_type", WITH_TOKENS)
async def test_a_readable_jwt_with_tokens_is_never_in_a_query(
    implicit: ClientApp, read: Read, response_type: str
) -> None:
    page = await login(implicit, response_type, "query.jwt")
    assert way_of(page) == "fragment"
    assert (await read(page, "implicit"))["error"] == "invalid_request"


async def test_a_client_may_get_a_jwt_unless_it_asks_for_another_mode(
    app_of: Callable[[str], ClientApp], read: Read
) -> None:
    spa = app_of("spa")
    assert "code" in await read(await spa.login(), "spa")
    assert "code" in (await spa.login(response_mode="query")).parameters


@pytest.mark.rfc("jarm#3")
async def test_the_client_chooses_the_algorithm_that_signs(
    app: ClientApp, app_of: Callable[[str], ClientApp], read: Read
) -> None:
    page = await app.login(response_mode="jwt")
    assert header_of(page.parameters["response"])["alg"] == "ES256"
    page = await app_of("consenting").authorize(response_mode="jwt", prompt="none")
    assert header_of(page.parameters["response"])["alg"] == "PS256"
    assert (await read(page, "consenting"))["error"] == "consent_required"


@pytest.mark.rfc("jarm#2.1", "9207#2")
async def test_the_issuer_stands_in_the_jwt_only(app: ClientApp) -> None:
    assert (await app.login(response_mode="jwt")).parameters.keys() == {"response"}


@pytest.mark.rfc("8725#3.12")
async def test_a_response_is_no_id_token(app: ClientApp, service: RunningService) -> None:
    response = (await app.login(response_mode="jwt")).parameters["response"]
    page = await app.authorize(prompt="none", id_token_hint=response)
    assert page.error == "invalid_request"
    assert not await service.is_active(response)


async def test_a_state_of_any_text_comes_back(app: ClientApp, read: Read) -> None:
    state = 'ü "quoted" \\ \u2028 &='
    assert (await read(await app.login(response_mode="jwt", state=state)))["state"] == state
