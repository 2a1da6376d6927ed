"""A client that puts its authorization request into a JWT."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from service.keys.jose import Key
from tests.clients.signing import SECRET, key_of, unsigned
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService

ENC = "A128CBC-HS256"

KINDS = ("RS256", "ES256", "ES384", "ES512", "EdDSA")
"""An algorithm of each type of key that a client has."""


def jwks() -> dict[str, Any]:
    """The client's public keys; without `alg`, one of RSA serves for six algorithms."""
    published = (key_of(alg).public_jwk for alg in KINDS)
    return {
        "keys": [{name: value for name, value in jwk.items() if name != "alg"} for jwk in published]
    }


def let_send_objects(config: dict[str, Any], *request_uris: str) -> dict[str, Any]:
    """Web signs as it likes, spa by ES384 only, implicit not at all, consenting has to."""
    for client_id in ("web", "spa", "implicit", "consenting"):
        client_in(config, client_id).update(jwks=jwks(), request_uris=list(request_uris))
    for client_id in ("web", "consenting"):
        client_in(config, client_id)["client_secrets"].append({"value": SECRET})
    client_in(config, "spa")["request_object_signing_alg"] = "ES384"
    client_in(config, "implicit")["request_object_signing_alg"] = "none"
    client_in(config, "consenting").update(
        require_signed_request_object=True, require_consent=False
    )
    return config


@dataclass(frozen=True)
class Sender:
    """One client that signs what it asks for."""

    app: ClientApp

    def claims(self, **changes: Any) -> dict[str, Any]:
        """A whole request as claims, changed or (None) left out; spans count from now."""
        now = int(time.time())
        usual = {"iss": self.app.client_id, "aud": self.app.service.issuer, "iat": now}
        claims = usual | self.app.parameters() | changes
        return {
            name: now + int(value.total_seconds()) if isinstance(value, timedelta) else value
            for name, value in claims.items()
            if value is not None
        }

    async def signed(
        self, alg: str = "ES256", *, typ: str = "JWT", number: int = 0, **changes: Any
    ) -> str:
        """The request object."""
        return await key_of(alg, number).sign(self.claims(**changes), typ=typ)

    def unsigned(self, **changes: Any) -> str:
        """The same without a signature."""
        return unsigned({"alg": "none"}, self.claims(**changes))

    def url(self, **sent: str | None) -> str:
        """The parameters outside the object: those that OAuth requires, changed or left out."""
        usual = {
            "client_id": self.app.client_id,
            "response_type": self.app.parameters()["response_type"],
            "scope": "openid",
        }
        query = {name: value for name, value in (usual | sent).items() if value is not None}
        return f"/connect/authorize?{urlencode(query)}"

    async def send(self, request: str | None, **sent: str | None) -> Page:
        """Send the browser there with an object: a page of the service, or the client's."""
        return await self.app.browser.get(self.url(request=request, **sent))

    async def sign_in(self, request: str | None, **sent: str | None) -> Page:
        """The same, until alice has signed in."""
        page = await self.send(request, **sent)
        assert page.has("login"), page.url
        return await self.app.browser.log_in(page)


async def find_published_key(service: RunningService, alg: str) -> Key:
    """The service's key to encrypt to."""
    keys = (await service.get("/.well-known/jwks.json"))["keys"]
    (jwk,) = (key for key in keys if key["use"] == "enc" and key["alg"] == alg)
    return Key.load(jwk, alg)
