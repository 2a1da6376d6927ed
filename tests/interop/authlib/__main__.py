"""Authlib through its natural flow: what it validates, we need not (OIDC Discovery §4, OIDC Core §3.1)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oauth2.rfc7523 import ClientSecretJWT, PrivateKeyJWT
from authlib.oidc.core import CodeIDToken, UserInfo
from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from tests.interop import client_keys
from tests.interop.addresses import ERRANDS, ISSUER, WORKPLACE
from tests.interop.person import Person, a_person
from tests.interop.steps import Steps

TOKEN_ENDPOINT = f"{ISSUER}/connect/token"
SUBJECT = "818727"
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass
class Application:
    """A web application on Authlib's asynchronous client."""

    client: AsyncOAuth2Client
    person: Person
    metadata: dict[str, Any]

    @classmethod
    async def of(cls, client: AsyncOAuth2Client, person: Person) -> Application:
        """With the provider's metadata, which Authlib finds to be valid."""
        url = get_well_known_url(ISSUER, external=True)
        metadata = (await client.request("GET", url, withhold_token=True)).json()
        provider = OpenIDProviderMetadata(metadata)
        provider.validate()
        return cls(client, person, metadata)

    async def sign_in(self, **more: str) -> dict[str, Any]:
        """Tokens for alice."""
        verifier, nonce = generate_token(48), generate_token()
        endpoint = self.metadata["authorization_endpoint"]
        url, state = self.client.create_authorization_url(
            endpoint, code_verifier=verifier, nonce=nonce, **more
        )
        arrived = await self.person.visit(url)
        token: dict[str, Any] = await self.client.fetch_token(
            self.metadata["token_endpoint"],
            authorization_response=arrived.url,
            state=state,
            code_verifier=verifier,
        )
        await self.verify(token, nonce)
        return token

    async def verify(self, token: dict[str, Any], nonce: str) -> None:
        """Check the identity token as OIDC Core §3.1.3.7 says."""
        jwks = (await self.client.get(self.metadata["jwks_uri"])).json()
        decoded = jwt.decode(token["id_token"], KeySet.import_key_set(jwks))
        client_id = self.client.client_id
        params = {"nonce": nonce, "client_id": client_id, "access_token": token["access_token"]}
        options = {"iss": {"value": ISSUER}, "aud": {"value": client_id}}
        claims = CodeIDToken(decoded.claims, decoded.header, options, params)
        claims.validate()
        assert claims["sub"] == SUBJECT

    async def introspected(self, token: str) -> dict[str, Any]:
        """The service's knowledge of a token."""
        endpoint = self.metadata["introspection_endpoint"]
        answer: dict[str, Any] = (await self.client.introspect_token(endpoint, token=token)).json()
        return answer


def by_secret(method: str) -> AsyncOAuth2Client:
    """A client that sends its secret."""
    return web_client("web", "web-secret", method)


def by_hmac() -> AsyncOAuth2Client:
    """A client that signs with its secret (RFC 7523 §2.2)."""
    secret = "web-with-hmac-secret-of-more-than-32-bytes"
    client = web_client("web-with-hmac", secret, "client_secret_jwt")
    client.register_client_auth_method(ClientSecretJWT(TOKEN_ENDPOINT))
    return client


def by_key() -> AsyncOAuth2Client:
    """A client that signs with its key (RFC 7523 §2.2)."""
    key = ECKey.import_key(json.loads(Path(WORKPLACE, client_keys.SIGNING).read_text()))
    client = web_client("web-with-key", key, "private_key_jwt")
    headers = {"kid": key.kid}
    client.register_client_auth_method(PrivateKeyJWT(TOKEN_ENDPOINT, headers=headers, alg="ES256"))
    return client


def web_client(client_id: str, secret: str | ECKey, method: str) -> AsyncOAuth2Client:
    """A web application's client with one way to authenticate at every endpoint."""
    return AsyncOAuth2Client(
        client_id,
        secret,
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        redirect_uri=f"{ERRANDS}/callback",
        scope="openid profile email api1 offline_access",
        code_challenge_method="S256",
    )


async def tells_the_whole_story(app: Application, steps: Steps) -> None:
    """Code with PKCE, userinfo, refresh, introspection, revocation, logout."""
    endpoints, method = app.metadata, app.client.token_endpoint_auth_method
    with steps.step(f"{method}: code with PKCE, and an identity token that verifies"):
        first = await app.sign_in()
    with steps.step(f"{method}: userinfo knows the person"):
        claims = (await app.client.get(endpoints["userinfo_endpoint"])).json()
        assert (UserInfo(claims).sub, claims["email"]) == (SUBJECT, "alice@example.com")
    with steps.step(f"{method}: refresh takes a new refresh token each time"):
        renewed = await app.client.refresh_token(
            endpoints["token_endpoint"], refresh_token=first["refresh_token"]
        )
        assert renewed["refresh_token"] != first["refresh_token"]
    with steps.step(f"{method}: introspection knows the access token until it is revoked"):
        assert (await app.introspected(renewed["access_token"]))["sub"] == SUBJECT
        await app.client.revoke_token(
            endpoints["revocation_endpoint"], token=renewed["refresh_token"]
        )
        assert await app.introspected(renewed["access_token"]) == {"active": False}
    with steps.step(f"{method}: logout comes back, and nobody is signed in"):
        await signs_out(app, first["id_token"])


async def signs_out(app: Application, id_token: str) -> None:
    """RP-initiated logout, after which nobody answers without being asked."""
    back = f"{ERRANDS}/signed-out"
    url, _ = app.client.create_authorization_url(
        app.metadata["end_session_endpoint"],
        id_token_hint=id_token,
        post_logout_redirect_uri=back,
        state="s",
    )
    arrived = await app.person.visit(url)
    assert arrived.url == f"{back}?state=s"
    url, _ = app.client.create_authorization_url(
        app.metadata["authorization_endpoint"], code_verifier=generate_token(48), prompt="none"
    )
    assert "error=login_required" in (await app.person.visit(url)).url


async def acts_for_itself(steps: Steps) -> None:
    """Client credentials."""
    async with AsyncOAuth2Client("machine", "machine-secret", scope="api1") as client:
        with steps.step("client_credentials: a token that Authlib's client uses by itself"):
            token = await client.fetch_token(TOKEN_ENDPOINT)
            assert (token["token_type"], token["scope"]) == ("Bearer", "api1")


async def refusal(client: AsyncOAuth2Client, **form: str) -> str | None:
    """The error of a token request."""
    try:
        await client.fetch_token(TOKEN_ENDPOINT, **form)
    except OAuthError as refused:
        return str(refused.error)
    return None


async def allows_a_device(person: Person, steps: Steps) -> None:
    """Device authorization (RFC 8628), which Authlib's clients do by an extension grant."""
    scope = "openid api1 offline_access"
    async with AsyncOAuth2Client("tv", token_endpoint_auth_method="none", scope=scope) as client:
        with steps.step("device_code: waits until the person allows it, and works once"):
            form = {"client_id": "tv", "scope": scope}
            endpoint = f"{ISSUER}/connect/deviceauthorization"
            codes = (await client.request("POST", endpoint, withhold_token=True, data=form)).json()
            asking = {"grant_type": DEVICE_CODE, "device_code": codes["device_code"]}
            assert await refusal(client, **asking) == "authorization_pending"
            await person.visit(codes["verification_uri_complete"])
            token = await client.fetch_token(TOKEN_ENDPOINT, **asking)
            assert (token["token_type"], "refresh_token" in token) == ("Bearer", True)


async def main() -> None:
    """Everything, with each way to authenticate."""
    steps = Steps()
    each = [by_secret("client_secret_basic"), by_secret("client_secret_post"), by_hmac(), by_key()]
    async with a_person() as person:
        for client in each:
            async with client:
                await tells_the_whole_story(await Application.of(client, person), steps)
        await allows_a_device(person, steps)
    await acts_for_itself(steps)
    steps.finish()


asyncio.run(main())
