"""Seven response types, and what each of them brings (OAuth 2.0 Multiple Response Types §3, §5; OIDC Core §3)."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import pytest

from service.protocol.pkce import s256
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService, claims_in

ALWAYS = {"state", "iss"}
OF_TOKEN = {"access_token", "token_type", "expires_in", "scope"}
MEMBERS = {
    "code": {"code"},
    "id_token": {"id_token"},
    "token": OF_TOKEN,
    "id_token token": {"id_token"} | OF_TOKEN,
    "code id_token": {"code", "id_token"},
    "code token": {"code"} | OF_TOKEN,
    "code id_token token": {"code", "id_token"} | OF_TOKEN,
}
SCOPES = {"id_token": "openid profile", "token": "api1"}

each_type = pytest.mark.parametrize("response_type", MEMBERS)


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "consenting").update(
        allowed_grant_types=["implicit", "authorization_code"],
        allow_access_tokens_via_browser=False,
        require_consent=False,
        require_pkce=False,
    )
    return configuration


@pytest.fixture
def implicit(app_of: Callable[[str], ClientApp]) -> ClientApp:
    return app_of("implicit")


async def get_response(client: ClientApp, response_type: str, **changes: str | None) -> Page:
    """The answer to a request for this response type."""
    scope = SCOPES.get(response_type, "openid api1")
    usual: dict[str, Any] = {"response_type": response_type, "scope": scope}
    return await client.login(**usual | changes)


@pytest.mark.rfc("oauth-multiple-response-types#5", "openid-core#3.3.2.5", "9207#2")
@each_type
async def test_a_response_type_brings_what_it_names(
    implicit: ClientApp, response_type: str
) -> None:
    page = await get_response(implicit, response_type)
    assert page.status == 303
    assert set(page.parameters) - {"session_state"} == MEMBERS[response_type] | ALWAYS
    assert page.parameters["state"] == "the-state"


@pytest.mark.rfc("6749#3.1.1")
@pytest.mark.parametrize(
    "response_type", ["token id_token", "id_token code", "token code", "token id_token code"]
)
async def test_the_order_of_words_in_a_response_type_does_not_matter(
    implicit: ClientApp, response_type: str
) -> None:
    page = await get_response(implicit, response_type)
    assert page.error is None
    assert ("code" in page.parameters) == ("code" in response_type.split())


@pytest.mark.rfc("openid-core#3.3.2.11")
@pytest.mark.parametrize("response_type", [kind for kind in MEMBERS if "id_token" in kind])
async def test_an_id_token_is_bound_to_code_token_and_state_by_hashes(
    implicit: ClientApp, response_type: str
) -> None:
    answer = (await get_response(implicit, response_type)).parameters
    claims = claims_in(answer["id_token"])
    assert claims["nonce"] == "the-nonce"
    assert claims.get("c_hash") == left_half(answer.get("code"))
    assert claims.get("at_hash") == left_half(answer.get("access_token"))
    assert claims.get("s_hash") == (left_half("the-state") if "code" in answer else None)


@pytest.mark.rfc("openid-core#3.3.2.11")
async def test_an_id_token_has_no_s_hash_without_a_state(implicit: ClientApp) -> None:
    page = await get_response(implicit, "code id_token", state=None)
    assert "s_hash" not in claims_in(page.parameters["id_token"])


@pytest.mark.rfc("6749#4.2.2")
async def test_an_access_token_tells_its_type_lifetime_and_scope(
    implicit: ClientApp, service: RunningService
) -> None:
    answer = (await get_response(implicit, "token")).parameters
    assert (answer["token_type"], answer["expires_in"], answer["scope"]) == (
        "Bearer",
        "3600",
        "api1",
    )
    assert await service.is_active(answer["access_token"])


@pytest.mark.rfc("openid-core#3.3.3")
@pytest.mark.parametrize("response_type", ["code id_token", "code token", "code id_token token"])
async def test_the_code_of_a_hybrid_answer_is_redeemed(
    implicit: ClientApp, response_type: str
) -> None:
    page = await get_response(implicit, response_type)
    tokens = await implicit.redeem(page.parameters["code"])
    assert tokens.status == 200
    assert claims_in(tokens["id_token"])["nonce"] == "the-nonce"


@pytest.mark.rfc("openid-core#5.4")
async def test_an_id_token_without_an_access_token_holds_the_user_claims(
    implicit: ClientApp,
) -> None:
    alone = claims_in((await get_response(implicit, "id_token")).parameters["id_token"])
    beside = await get_response(implicit, "id_token token", scope="openid profile")
    assert alone["name"] == "Alice Smith"
    assert "name" not in claims_in(beside.parameters["id_token"])


@pytest.mark.rfc("openid-core#3.2.2.1", "openid-core#3.3.2.1")
@each_type
async def test_a_nonce_is_required_for_an_id_token_in_the_response(
    implicit: ClientApp, response_type: str
) -> None:
    page = await get_response(implicit, response_type, nonce=None)
    required = "id_token" in response_type.split()
    assert page.error == ("invalid_request" if required else None)


@pytest.mark.parametrize(
    ("response_type", "scope"),
    [
        ("id_token", "openid api1"),
        ("id_token", "profile"),
        ("id_token", "api1"),
        ("token", "openid api1"),
        ("token", "openid"),
        ("token", "profile api1"),
        ("id_token token", "api1"),
        ("code id_token", "profile api1"),
        ("code id_token token", "api1"),
    ],
)
async def test_a_scope_that_does_not_fit_the_response_type_is_refused(
    implicit: ClientApp, response_type: str, scope: str
) -> None:
    page = await implicit.authorize(response_type=response_type, scope=scope)
    assert page.error == "invalid_scope"


@pytest.mark.rfc("openid-core#11")
@pytest.mark.parametrize("response_type", ["id_token", "token", "id_token token"])
async def test_offline_access_is_ignored_where_no_code_is_issued(
    implicit: ClientApp, response_type: str
) -> None:
    scope = SCOPES.get(response_type, "openid api1")
    page = await get_response(implicit, response_type, scope=scope + " offline_access")
    assert page.error is None
    assert "offline_access" not in page.parameters.get("scope", "")


@pytest.mark.parametrize("client_id", ["web", "spa", "native"])
async def test_a_response_type_that_was_not_registered_is_refused(
    app_of: Callable[[str], ClientApp], client_id: str
) -> None:
    page = await app_of(client_id).authorize(response_type="code token")
    assert page.error == "unauthorized_client"


@pytest.mark.rfc("9700#2.1.2")
async def test_a_client_may_keep_access_tokens_out_of_the_browser(
    app_of: Callable[[str], ClientApp],
) -> None:
    client = app_of("consenting")
    for response_type in ("token", "id_token token", "code token", "code id_token token"):
        page = await client.authorize(response_type=response_type, scope="openid api1")
        assert page.error == "unauthorized_client"
    assert "id_token" in (await get_response(client, "code id_token")).parameters


def left_half(value: str | None) -> str | None:
    """The left half of a SHA-256, which ES256 goes with (OIDC Core §3.1.3.6)."""
    if value is None:
        return None
    return urlsafe_b64encode(urlsafe_b64decode(s256(value) + "=")[:16]).rstrip(b"=").decode()
