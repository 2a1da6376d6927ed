"""An authenticator in software: makes passkeys and uses them, honestly or not (WebAuthn Level 3 §6)."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2 import cbor
from fido2.utils import websafe_encode

PRESENT, VERIFIED, ELIGIBLE, BACKED_UP, ATTESTED, EXTENDED = 0x01, 0x04, 0x08, 0x10, 0x40, 0x80

Sign = Callable[[bytes], bytes]


def _es256() -> tuple[dict[int, Any], Sign]:
    key = ec.generate_private_key(ec.SECP256R1())
    point = key.public_key().public_numbers()
    x, y = point.x.to_bytes(32, "big"), point.y.to_bytes(32, "big")
    cose = {1: 2, 3: -7, -1: 1, -2: x, -3: y}
    return cose, lambda said: key.sign(said, ec.ECDSA(hashes.SHA256()))


def _rs256() -> tuple[dict[int, Any], Sign]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    modulus = key.public_key().public_numbers().n.to_bytes(256, "big")
    cose = {1: 3, 3: -257, -1: modulus, -2: b"\1\0\1"}
    return cose, lambda said: key.sign(said, padding.PKCS1v15(), hashes.SHA256())


def _eddsa() -> tuple[dict[int, Any], Sign]:
    key = ed25519.Ed25519PrivateKey.generate()
    return {1: 1, 3: -8, -1: 6, -2: key.public_key().public_bytes_raw()}, key.sign


KINDS: Mapping[str, Callable[[], tuple[dict[int, Any], Sign]]] = {
    "ES256": _es256,
    "RS256": _rs256,
    "EdDSA": _eddsa,
}


@dataclass(kw_only=True)
class Authenticator:
    """One passkey; what it says of itself and of the page can be changed before each use."""

    origin: str
    kind: str = "ES256"
    flags: int = PRESENT | VERIFIED
    count: int = 0
    """Of the next use; 0 does not count."""
    client_data: dict[str, Any] = field(default_factory=dict)
    """What the browser says of the page, beside or instead of the truth."""
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    user_handle: str = ""
    transports: tuple[str, ...] = ("internal",)
    rp_id: str | None = None
    """Instead of the one that was asked for."""

    def __post_init__(self) -> None:
        self.key, self.sign = KINDS[self.kind]()

    def create(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """A new passkey: RegistrationResponseJSON."""
        self.user_handle = options["user"]["id"]
        identifier = len(self.credential_id).to_bytes(2, "big") + self.credential_id
        attested = bytes(16) + identifier + cbor.encode(self.key)
        found = self._authenticator_data(options["rp"]["id"], self.flags | ATTESTED) + attested
        attestation = cbor.encode({"fmt": "none", "authData": found, "attStmt": {}})
        said = self._client_data("webauthn.create", options["challenge"])
        return self._response(
            clientDataJSON=websafe_encode(said),
            attestationObject=websafe_encode(attestation),
            transports=list(self.transports),
        )

    def use(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """A use of it: AuthenticationResponseJSON."""
        found = self._authenticator_data(options["rpId"], self.flags)
        said = self._client_data("webauthn.get", options["challenge"])
        return self._response(
            clientDataJSON=websafe_encode(said),
            authenticatorData=websafe_encode(found),
            signature=websafe_encode(self.sign(found + sha256(said).digest())),
            userHandle=self.user_handle or None,
        )

    def _authenticator_data(self, rp_id: str, flags: int) -> bytes:
        of = sha256((self.rp_id or rp_id).encode()).digest()
        return of + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client_data(self, kind: str, challenge: str) -> bytes:
        truth = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(truth | self.client_data).encode()

    def _response(self, **response: object) -> dict[str, Any]:
        name = websafe_encode(self.credential_id)
        return {"id": name, "rawId": name, "type": "public-key", "response": response}
