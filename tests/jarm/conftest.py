"""Clients that get their authorization responses as JWTs, and what they read in them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwe import decrypt_compact
from joserfc.jwk import ECKey, KeySet

from tests.driving.browser import Page
from tests.driving.service import RunningService, header_of

OWN = ECKey.generate_key("P-256", {"kid": "own", "use": "enc"})
"""The private key of the clients that get their responses encrypted."""

PUBLIC_JWKS = {"keys": [OWN.as_dict(private=False)]}

ENCRYPTED = {
    "authorization_encrypted_response_alg": "ECDH-ES",
    "authorization_encrypted_response_enc": "A256GCM",
    "jwks": PUBLIC_JWKS,
}
"""The registration of such a client."""

Read = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
async def read(service: RunningService) -> Read:
    """Verifies a response as a client has to, `claims = await read(page)` (JARM §2.4); without iss, aud and exp."""

    async def read(page: Page, client_id: str = "web", response: str = "") -> dict[str, Any]:
        assert page.parameters.keys() == {"response"}
        signed = response or page.parameters["response"]
        keys = KeySet.import_key_set((await service.get("/.well-known/jwks.json")).json)  # type: ignore[arg-type]
        claims: dict[str, Any] = jwt.decode(signed, keys, algorithms=["ES256", "PS256"]).claims
        assert (claims.pop("iss"), claims.pop("aud")) == (service.issuer, client_id)
        assert 540 < claims.pop("exp") - time.time() <= 600
        return claims

    return read


def decrypt(response: str) -> str:
    """The signed JWT in an encrypted response, read by the client's own key."""
    header = header_of(response)
    assert (header["alg"], header["enc"], header["kid"]) == ("ECDH-ES", "A256GCM", "own")
    assert header["cty"] == "JWT"
    found = decrypt_compact(response, OWN, algorithms=["ECDH-ES", "A256GCM"])
    return (found.plaintext or b"").decode()
