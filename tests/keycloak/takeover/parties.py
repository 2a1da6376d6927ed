"""The users, clients and keys of the realm, and where its applications are."""

from __future__ import annotations

import base64
import re
import secrets
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc.jwk import ECKey

ADMIN = {"username": "admin", "password": "admin"}
HMAC_SECRET = "hmac-secret-" * 3
SEEDS = {
    "bob": ("a seed that is text", None),
    "carol": ("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "BASE32"),
}
"""By user: the seed of the app, and its encoding in Keycloak's words."""


def password_of(name: str) -> str:
    """The password of a user, whose twin has the same."""
    return f"{re.split('[-@]', name)[0].lower()}-password"


def secret_of(client: str) -> str:
    """The secret of a client."""
    return f"{client}-secret-" * 2


def code_seed_of(name: str) -> str:
    """The seed of the user's app, in base32."""
    seed, encoding = SEEDS[name.partition("-")[0]]
    return seed if encoding else base64.b32encode(seed.encode()).decode()


@cache
def signer_key() -> ECKey:
    """The key of the client that signs its assertions."""
    return ECKey.generate_key("P-256", {"kid": "signer-1", "use": "sig", "alg": "ES256"})


def signer_jwk() -> dict[str, Any]:
    """The public half of it."""
    return dict(signer_key().as_dict(private=False))


@dataclass(frozen=True, kw_only=True)
class Addresses:
    """The origins of this run: the server's, whichever it is, and those of applications."""

    server: str
    pages: str
    """Pages with keycloak-js and with oidc-client-ts."""
    spring: str
    proxy: str

    @property
    def issuer(self) -> str:
        """The realm."""
        return f"{self.server}/realms/shop"

    @property
    def port(self) -> int:
        """The server's."""
        return int(self.server.rpartition(":")[2])

    def endpoint(self, name: str) -> str:
        """An endpoint of the realm, at its path in Keycloak."""
        return f"{self.issuer}/protocol/openid-connect/{name}"


@dataclass(frozen=True)
class Passkey:
    """A passkey whose private key is known, for the virtual authenticator of a browser."""

    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def public_key(self) -> dict[int, Any]:
        """The public key as COSE has it."""
        point = self.key.public_key().public_numbers()
        return {
            1: 2,
            3: -7,
            -1: 1,
            -2: point.x.to_bytes(32, "big"),
            -3: point.y.to_bytes(32, "big"),
        }

    def credential(self) -> dict[str, Any]:
        """The form that Chromium's virtual authenticator takes; it keeps no name, so that the server has to name the passkey."""
        pkcs8 = self.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        return {
            "credentialId": base64.b64encode(self.credential_id).decode(),
            "isResidentCredential": False,
            "rpId": "localhost",
            "privateKey": base64.b64encode(pkcs8).decode(),
            "signCount": 1,
        }
