"""Clients whose identity tokens and userinfo are signed by a secret, or encrypted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwe import decrypt_compact
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey

from tests.driving.registry import client_in
from tests.driving.service import RunningService, header_of

SECRET = "a-secret-of-sixty-four-characters-and-a-few-more-for-the-longest-hash"
ALGORITHMS = [
    "RSA-OAEP-256",
    "ECDH-ES",
    "A128KW",
    "dir",
    "HS256",
    "ES256",
    "A128CBC-HS256",
    "A256GCM",
]

OWN: dict[str, ECKey | RSAKey] = {
    "EC": ECKey.generate_key("P-256", {"kid": "own-ec", "use": "enc"}),
    "RSA": RSAKey.generate_key(2048, {"kid": "own-rsa", "use": "enc"}),
}
"""The clients' own private keys."""

KEYLESS: list[dict[str, Any]] = [
    {"jwks_uri": "http://127.0.0.1:1/"},
    {"jwks": {"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}]}},
]
"""Registrations that promise a key and have none."""


@pytest.fixture
def config(config: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
    """`frontend` and `web` share a secret, publish keys and end sessions; a test's `registered` mark adds the rest."""
    for client_id in ("frontend", "web", "implicit"):
        client = client_in(config, client_id)
        client["client_secrets"] = [{"value": SECRET}]
        client["jwks"] = {"keys": [key.as_dict(private=False) for key in OWN.values()]}
        client.setdefault("post_logout_redirect_uris", ["https://app.example/bye"])
        client |= dict(getattr(request, "param", {}))
    return config


def as_registered(*clients: dict[str, str]) -> pytest.MarkDecorator:
    """Run a test for clients that are registered so."""
    ids = ["-".join(client.values()).replace("+", "_") for client in clients]
    return pytest.mark.parametrize("config", clients, ids=ids, indirect=True)


def decrypt(jwe: str) -> tuple[dict[str, Any], bytes]:
    """Header and content, read by the client's own keys."""
    found = decrypt_compact(jwe, KeySet(list(OWN.values())), algorithms=ALGORITHMS)
    return found.headers(), found.plaintext or b""


Signed = Callable[[str], dict[str, Any]]


@pytest.fixture
async def signed(service: RunningService) -> Signed:
    """Reads a JWT of the service's, by its published key or the shared secret."""
    jwks = (await service.get("/.well-known/jwks.json")).json
    keys = KeySet.import_key_set({"keys": [key for key in jwks["keys"] if key["use"] == "sig"]})

    def read(token: str) -> dict[str, Any]:
        secret = header_of(token)["alg"].startswith("HS")
        key = OctKey.import_key(SECRET) if secret else keys
        return jwt.decode(token, key, algorithms=["ES256", "HS256", "HS384", "HS512"]).claims

    return read
