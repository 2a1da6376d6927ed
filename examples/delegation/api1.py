"""API 1: checks a JWT by the issuer's published keys, and asks API 2 on the user's behalf.

python api1.py ISSUER API2 PORT
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
import time
from dataclasses import dataclass, field

from aiohttp import ClientError, ClientSession, ClientTimeout, encode_basic_auth, web
from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

NAME = "api1"
CREDENTIALS = {"Authorization": encode_basic_auth("api1", "api1-secret")}
ALGORITHMS = ["ES256"]
FETCH_AGAIN_AFTER = 10
"""Seconds after which a key id that is not known may cause another fetch; callers can invent key ids."""
TRUST_FOR = 3600
"""Seconds after which the keys are fetched anyway, because the issuer may have withdrawn one."""


@dataclass
class IssuerKeys:
    """The keys that the issuer publishes, which change while this API runs (RFC 7517)."""

    url: str
    http: ClientSession
    keys: KeySet | None = None
    fetched_at: float = -math.inf
    fetching: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def find(self, kid: object) -> KeySet | None:
        """Return the issuer's keys, fetched again where they do not have this one or are old."""
        async with self.fetching:  # those who ask meanwhile wait for the same fetch
            age = time.monotonic() - self.fetched_at
            is_known = self.keys is not None and any(key.kid == kid for key in self.keys)
            if age > (TRUST_FOR if is_known else FETCH_AGAIN_AFTER):
                await self.fetch()
        return self.keys

    async def fetch(self) -> None:
        """Read the published keys; where that fails, the ones before stay until the next attempt."""
        self.fetched_at = time.monotonic()
        try:
            async with self.http.get(self.url) as answer:
                answer.raise_for_status()
                self.keys = KeySet.import_key_set(await answer.json())
        except (ClientError, TimeoutError, JoseError, ValueError) as error:
            print(f"the keys at {self.url} could not be read: {error!r}", file=sys.stderr)


@dataclass(frozen=True)
class Api1:
    """Reports for users, with numbers that come from API 2."""

    issuer: str
    api2: str
    keys: IssuerKeys
    http: ClientSession

    async def report(self, request: web.Request) -> web.Response:
        """GET /report: ours and API 2's part of it."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        claims = await self.claims_of(token)
        if claims is None:
            return refusal("the token is not a valid access token for API 1")
        delegated = await self.exchange(token)
        transaction = await self.begin_transaction(token)
        if delegated is None or transaction is None:
            return refusal("the issuer did not exchange the token")
        headers = {"Authorization": f"Bearer {delegated}", "Txn-Token": transaction}
        async with self.http.get(f"{self.api2}/numbers", headers=headers) as answer:
            numbers = await answer.json()
        return web.json_response({"user": claims["sub"], "api2_says": numbers})

    async def claims_of(self, token: str) -> dict[str, object] | None:
        """The claims, if the token is the issuer's, for this API, and not expired (RFC 9068 §4)."""
        expected = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": self.issuer},
            aud={"essential": True, "value": NAME},
            exp={"essential": True},
        )
        try:
            kid = jws.extract_compact(token.encode()).headers().get("kid")
            keys = await self.keys.find(kid)
            if keys is None:
                return None
            verified = jwt.decode(token, keys, algorithms=ALGORITHMS)
            expected.validate(verified.claims)
        except (JoseError, ValueError):
            return None
        return verified.claims if verified.header.get("typ") == "at+jwt" else None

    async def exchange(self, token: str) -> str | None:
        """A token with which API 1 may call API 2 for the same user: the delegation grant."""
        return await self.ask_issuer({"grant_type": "delegation", "token": token, "scope": "api2"})

    async def begin_transaction(self, token: str) -> str | None:
        """A transaction token, which tells every API of the call chain what it is about."""
        return await self.ask_issuer(
            {
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                "requested_token_type": "urn:ietf:params:oauth:token-type:txn_token",
                "audience": "https://shop.example",
                "scope": "report",
                "request_details": json.dumps({"year": 2026, "colour": "red"}),
                "subject_token": token,
                "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
            }
        )

    async def ask_issuer(self, form: dict[str, str]) -> str | None:
        """The token that the issuer answers with."""
        url = f"{self.issuer}/connect/token"
        async with self.http.post(url, data=form, headers=CREDENTIALS) as answer:
            response: dict[str, str] = await answer.json()
        return response.get("access_token")


def refusal(why: str) -> web.Response:
    """401 with the reason (RFC 6750 §3.1)."""
    challenge = f'Bearer error="invalid_token", error_description="{why}"'
    body = {"error": "invalid_token", "error_description": why}
    return web.json_response(body, status=401, headers={"WWW-Authenticate": challenge})


async def app(issuer: str, api2: str) -> web.Application:
    """The API."""
    http = ClientSession(timeout=ClientTimeout(total=5))
    keys = IssuerKeys(f"{issuer}/.well-known/jwks.json", http)
    made = web.Application()
    made.add_routes([web.get("/report", Api1(issuer, api2, keys, http).report)])
    made.on_cleanup.append(lambda _: http.close())
    return made


if __name__ == "__main__":
    web.run_app(app(sys.argv[1], sys.argv[2]), host="127.0.0.1", port=int(sys.argv[3]))
