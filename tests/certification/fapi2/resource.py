"""The protected resource: userinfo, or an API that asks introspection, where there is no OpenID Connect."""

from __future__ import annotations

from typing import Any

from joserfc import jwt
from joserfc.jwk import KeySet

from tests.certification.fapi2.client import FapiClient
from tests.certification.profiles import secret_of
from tests.certification.provider import ISSUER, Provider

API = "accounts"


async def admits(client: FapiClient, access_token: str) -> bool:
    """Whether the token is good there, for the key that the client holds (RFC 9449 §7.1, RFC 8705 §3)."""
    if client.plan.is_openid:
        answer = await client.call(access_token)
        assert answer.status in {200, 401}, answer.body
        assert "Date" in answer.headers
        return answer.status == 200
    told = await introspected(client.provider, access_token)
    if not told["active"]:
        return False
    assert told["token_type"] == ("DPoP" if client.plan.sender_constrain == "dpop" else "Bearer")
    return bool(told["cnf"] == client.confirmation)


async def introspected(provider: Provider, access_token: str) -> dict[str, Any]:
    """The signed introspection response about a token (RFC 9701 §5, FAPI 2.0 Message Signing §5.5.1)."""
    path = provider.path("introspection_endpoint")
    answer = await provider.service.post(path, auth=(API, secret_of(API)), token=access_token)
    assert answer.headers["Content-Type"] == "application/token-introspection+jwt"
    keys = KeySet.import_key_set({"keys": (await provider.jwks())["keys"]})
    token = jwt.decode(answer.body.decode(), keys, algorithms=["PS256", "ES256"])
    assert token.header["typ"] == "token-introspection+jwt"
    assert (token.claims["iss"], token.claims["aud"]) == (ISSUER, API)
    told: dict[str, Any] = token.claims["token_introspection"]
    return told
