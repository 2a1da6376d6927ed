"""API 2: asks the issuer what a token is worth, and serves nobody but API 1 on behalf of a user.

python api2.py ISSUER PORT
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from aiohttp import ClientSession, encode_basic_auth, web

CREDENTIALS = {"Authorization": encode_basic_auth("api2", "api2-secret")}


@dataclass(frozen=True)
class Api2:
    """It looks into no token; introspection tells all (RFC 7662)."""

    issuer: str
    http: ClientSession

    async def numbers(self, request: web.Request) -> web.Response:
        """GET /numbers: for the user, and only through API 1."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        url = f"{self.issuer}/connect/introspect"
        async with self.http.post(url, data={"token": token}, headers=CREDENTIALS) as answer:
            known = await answer.json()
        if not known["active"]:
            return refusal("the token is not active for API 2")
        if known.get("act", {}).get("sub") != "api1":
            return refusal("the token was not delegated to API 1")
        return web.json_response({"numbers_of": known["sub"], "asked_by": known["act"]["sub"]})


def refusal(why: str) -> web.Response:
    """401 with the reason (RFC 6750 §3.1)."""
    challenge = f'Bearer error="invalid_token", error_description="{why}"'
    body = {"error": "invalid_token", "error_description": why}
    return web.json_response(body, status=401, headers={"WWW-Authenticate": challenge})


async def app(issuer: str) -> web.Application:
    """The API."""
    http = ClientSession()
    made = web.Application()
    made.add_routes([web.get("/numbers", Api2(issuer, http).numbers)])
    made.on_cleanup.append(lambda _: http.close())
    return made


if __name__ == "__main__":
    web.run_app(app(sys.argv[1]), host="127.0.0.1", port=int(sys.argv[2]))
