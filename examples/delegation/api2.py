"""API 2: asks the issuer what a token is worth, serves nobody but API 1 on behalf of a user, and asks API 3 for them.

python api2.py ISSUER API3 PORT
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
    api3: str
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
        exchanged = await self.exchange(token)
        if exchanged is None:
            return refusal("the issuer did not exchange the token")
        headers = {"Authorization": f"Bearer {exchanged}"}
        headers["Txn-Token"] = request.headers.get("Txn-Token", "")
        async with self.http.get(f"{self.api3}/rates", headers=headers) as answer:
            rates = await answer.json()
        tokens = {"delegation": known, **rates.pop("tokens", {})}
        numbers = {"numbers_of": known["sub"], "asked_by": known["act"]["sub"]}
        return web.json_response({**numbers, "api3_says": rates, "tokens": tokens})

    async def exchange(self, token: str) -> str | None:
        """A token with which API 2 may call API 3 for the same user: token exchange (RFC 8693)."""
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token": token,
            "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "audience": "api3",
        }
        url = f"{self.issuer}/connect/token"
        async with self.http.post(url, data=form, headers=CREDENTIALS) as answer:
            response: dict[str, str] = await answer.json()
        return response.get("access_token")


def refusal(why: str) -> web.Response:
    """401 with the reason (RFC 6750 §3.1)."""
    challenge = f'Bearer error="invalid_token", error_description="{why}"'
    body = {"error": "invalid_token", "error_description": why}
    return web.json_response(body, status=401, headers={"WWW-Authenticate": challenge})


async def app(issuer: str, api3: str) -> web.Application:
    """The API."""
    http = ClientSession()
    made = web.Application()
    made.add_routes([web.get("/numbers", Api2(issuer, api3, http).numbers)])
    made.on_cleanup.append(lambda _: http.close())
    return made


if __name__ == "__main__":
    web.run_app(app(sys.argv[1], sys.argv[2]), host="127.0.0.1", port=int(sys.argv[3]))
