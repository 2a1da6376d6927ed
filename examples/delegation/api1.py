"""API 1: checks a JWT by the issuer's published keys, and asks API 2 on the user's behalf.

python api1.py ISSUER API2 PORT
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from aiohttp import ClientSession, encode_basic_auth, web
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

NAME = "api1"
CREDENTIALS = {"Authorization": encode_basic_auth("api1", "api1-secret")}
ALGORITHMS = ["ES256"]


@dataclass(frozen=True)
class Api1:
    """What a user wants here needs something of API 2's."""

    issuer: str
    api2: str
    keys: KeySet
    http: ClientSession

    async def report(self, request: web.Request) -> web.Response:
        """GET /report: ours and API 2's part of it."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        claims = self.claims_of(token)
        if claims is None:
            return refusal("the token is not a valid access token for API 1")
        delegated = await self.exchange(token)
        if delegated is None:
            return refusal("the issuer did not exchange the token")
        headers = {"Authorization": f"Bearer {delegated}"}
        async with self.http.get(f"{self.api2}/numbers", headers=headers) as answer:
            numbers = await answer.json()
        return web.json_response({"user": claims["sub"], "api2_says": numbers})

    def claims_of(self, token: str) -> dict[str, object] | None:
        """The claims, if the token is the issuer's, for this API, and not expired (RFC 9068 §4)."""
        expected = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": self.issuer},
            aud={"essential": True, "value": NAME},
            exp={"essential": True},
        )
        try:
            verified = jwt.decode(token, self.keys, algorithms=ALGORITHMS)
            expected.validate(verified.claims)
        except (JoseError, ValueError):
            return None
        return verified.claims if verified.header.get("typ") == "at+jwt" else None

    async def exchange(self, token: str) -> str | None:
        """A token with which API 1 may call API 2 for the same user: the delegation grant."""
        form = {"grant_type": "delegation", "token": token, "scope": "api2"}
        url = f"{self.issuer}/connect/token"
        async with self.http.post(url, data=form, headers=CREDENTIALS) as answer:
            response = await answer.json()
        return response.get("access_token")


def refusal(why: str) -> web.Response:
    """401 with the reason (RFC 6750 §3.1)."""
    challenge = f'Bearer error="invalid_token", error_description="{why}"'
    body = {"error": "invalid_token", "error_description": why}
    return web.json_response(body, status=401, headers={"WWW-Authenticate": challenge})


async def app(issuer: str, api2: str) -> web.Application:
    """The API, which knows the issuer's keys from its start (real ones ask again for a new `kid`)."""
    http = ClientSession()
    async with http.get(f"{issuer}/.well-known/jwks.json") as answer:
        keys = KeySet.import_key_set(await answer.json())
    made = web.Application()
    made.add_routes([web.get("/report", Api1(issuer, api2, keys, http).report)])
    made.on_cleanup.append(lambda _: http.close())
    return made


if __name__ == "__main__":
    web.run_app(app(sys.argv[1], sys.argv[2]), host="127.0.0.1", port=int(sys.argv[3]))
