"""The protected resource: userinfo, or an API that asks introspection, where there is no OpenID Connect."""

from __future__ import annotations

from tests.certification.fapi2.client import FapiClient
from tests.certification.profiles import secret_of
from tests.driving.service import Answer

API = "accounts"


async def admits(client: FapiClient, access_token: str) -> bool:
    """Whether the token is good there, for the key that the client holds (RFC 9449 §7.1, RFC 8705 §3)."""
    if client.plan.is_openid:
        answer = await client.call(access_token)
        assert answer.status in {200, 401}, answer.body
        assert "Date" in answer.headers
        return answer.status == 200
    told = await introspected(client, access_token)
    if not told["active"]:
        return False
    assert told["token_type"] == ("DPoP" if client.plan.sender_constrain == "dpop" else "Bearer")
    return bool(told["cnf"] == client.confirmation)


async def introspected(client: FapiClient, access_token: str) -> Answer:
    """What introspection tells the API of a token."""
    path = client.provider.path("introspection_endpoint")
    auth = (API, secret_of(API))
    return await client.provider.service.post(path, auth=auth, token=access_token)
