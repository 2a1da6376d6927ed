"""Authlib, which nobody here wrote, runs the whole story: discovery to logout (OIDC Discovery §4, OIDC Core §3.1)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.driving.browser import Browser
from tests.driving.registry import secret_of
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("openid-discovery#4", "openid-core#3.1", "7636#4")

REDIRECT_URI = "https://web.example/callback"
VERIFIER = "authlib-keeps-this-for-itself-until-it-has-a-code"


@pytest.fixture(params=["client_secret_basic", "client_secret_post"])
async def client(
    request: pytest.FixtureRequest, service: RunningService
) -> AsyncIterator[AsyncOAuth2Client]:
    """Authlib's client, with either way to authenticate."""
    async with AsyncOAuth2Client(
        "web",
        secret_of("web"),
        token_endpoint_auth_method=request.param,
        revocation_endpoint_auth_method=request.param,
        redirect_uri=REDIRECT_URI,
        scope="openid profile email api1 offline_access",
        code_challenge_method="S256",
    ) as client:
        client.metadata = await discovered(client, service)
        yield client


async def discovered(client: AsyncOAuth2Client, service: RunningService) -> dict[str, Any]:
    """The provider's metadata, which Authlib finds to be valid."""
    url = get_well_known_url(service.issuer, external=True)
    metadata: dict[str, Any] = (await client.request("GET", url, withhold_token=True)).json()
    provider = OpenIDProviderMetadata(metadata)
    provider.validate_issuer()
    provider.validate_authorization_endpoint()
    provider.validate_response_types_supported()
    provider.validate_scopes_supported()
    return metadata


async def signed_in(client: AsyncOAuth2Client, browser: Browser, **more: str) -> dict[str, Any]:
    """Tokens for alice."""
    url, state = client.create_authorization_url(
        client.metadata["authorization_endpoint"], code_verifier=VERIFIER, nonce="n-0S6", **more
    )
    page = await browser.log_in(await browser.get(url))
    token: dict[str, Any] = await client.fetch_token(
        client.metadata["token_endpoint"],
        authorization_response=page.url,
        state=state,
        code_verifier=VERIFIER,
    )
    return token


async def test_the_identity_token_verifies(client: AsyncOAuth2Client, browser: Browser) -> None:
    token = await signed_in(client, browser)
    jwks = (await client.get(client.metadata["jwks_uri"])).json()
    decoded = jwt.decode(token["id_token"], KeySet.import_key_set(jwks), algorithms=["ES256"])
    params = {"nonce": "n-0S6", "client_id": "web", "access_token": token["access_token"]}
    options = {"iss": {"value": client.metadata["issuer"]}, "aud": {"value": "web"}}
    claims = CodeIDToken(decoded.claims, decoded.header, options, params)
    claims.validate()
    assert claims["sub"] == "818727"


async def test_userinfo_knows_the_person(client: AsyncOAuth2Client, browser: Browser) -> None:
    await signed_in(client, browser)
    userinfo = (await client.get(client.metadata["userinfo_endpoint"])).json()
    assert (userinfo["sub"], userinfo["email"]) == ("818727", "alice@example.com")


async def test_it_refreshes_introspects_and_revokes(
    client: AsyncOAuth2Client, browser: Browser
) -> None:
    first = await signed_in(client, browser)
    endpoints = client.metadata
    renewed = await client.refresh_token(
        endpoints["token_endpoint"], refresh_token=first["refresh_token"]
    )
    assert renewed["refresh_token"] != first["refresh_token"]
    introspect = endpoints["introspection_endpoint"]
    answer = await client.introspect_token(introspect, token=renewed["access_token"])
    assert answer.json()["active"]
    await client.revoke_token(endpoints["revocation_endpoint"], token=renewed["refresh_token"])
    answer = await client.introspect_token(introspect, token=renewed["access_token"])
    assert answer.json() == {"active": False}


async def test_it_logs_out(client: AsyncOAuth2Client, browser: Browser) -> None:
    token = await signed_in(client, browser)
    url = f"{client.metadata['end_session_endpoint']}?id_token_hint={token['id_token']}"
    page = await browser.get(url + "&post_logout_redirect_uri=https://web.example/bye&state=s")
    assert page.url == "https://web.example/bye?state=s"
    url, _ = client.create_authorization_url(
        client.metadata["authorization_endpoint"], code_verifier=VERIFIER, prompt="none"
    )
    assert (await browser.get(url)).error == "login_required"


async def test_a_stolen_code_is_of_no_use_to_it(
    client: AsyncOAuth2Client, browser: Browser
) -> None:
    url, _ = client.create_authorization_url(
        client.metadata["authorization_endpoint"], code_verifier=VERIFIER, nonce="n"
    )
    page = await browser.log_in(await browser.get(url))
    with pytest.raises(OAuthError, match="invalid_grant"):
        await client.fetch_token(
            client.metadata["token_endpoint"],
            authorization_response=page.url,
            code_verifier=VERIFIER[::-1],
        )
