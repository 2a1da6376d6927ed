"""API 3: asks the issuer what a token is worth, and reads in the transaction token what the call is about.

python api3.py ISSUER PORT
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from aiohttp import ClientSession, encode_basic_auth, web
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

CREDENTIALS = {"Authorization": encode_basic_auth("api3", "api3-secret")}
TRUST_DOMAIN = "https://shop.example"


@dataclass(frozen=True)
class Api3:
    """Serves services that act for a user, in a call for a report."""

    issuer: str
    http: ClientSession

    async def rates(self, request: web.Request) -> web.Response:
        """GET /rates: for the user, in a transaction whose purpose is a report."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        url = f"{self.issuer}/connect/introspect"
        async with self.http.post(url, data={"token": token}, headers=CREDENTIALS) as answer:
            known = await answer.json()
        if not known["active"]:
            return web.json_response({"error": "invalid_token"}, status=401)
        transaction = await self.read_transaction(request.headers.get("Txn-Token", ""))
        if transaction is None or transaction["scope"] != "report":
            return web.json_response({"error": "invalid_token"}, status=401)
        tokens = {"token exchange": known, "transaction token": transaction}
        rates = {"rates_for": known["sub"], "asked_by": known["act"]["sub"]}
        return web.json_response({**rates, "year": transaction["tctx"]["year"], "tokens": tokens})

    async def read_transaction(self, token: str) -> dict[str, dict[str, int]] | None:
        """The claims of the transaction token, if it is valid in our trust domain and has not expired."""
        async with self.http.get(f"{self.issuer}/.well-known/jwks.json") as answer:
            keys = KeySet.import_key_set(await answer.json())
        expected = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": self.issuer},
            aud={"essential": True, "value": TRUST_DOMAIN},
            exp={"essential": True},
        )
        try:
            verified = jwt.decode(token, keys, algorithms=["ES256"])
            expected.validate(verified.claims)
        except (JoseError, ValueError):
            return None
        return verified.claims if verified.header.get("typ") == "txntoken+jwt" else None


async def app(issuer: str) -> web.Application:
    """The API."""
    http = ClientSession()
    made = web.Application()
    made.add_routes([web.get("/rates", Api3(issuer, http).rates)])
    made.on_cleanup.append(lambda _: http.close())
    return made


if __name__ == "__main__":
    web.run_app(app(sys.argv[1]), host="127.0.0.1", port=int(sys.argv[2]))
