"""The keys of the suite's FAPI clients; config.conformance.yaml has the public halves."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

KEYS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("keys.json").read_text())
"""The private key of the first client, an RSA one, and of the second one, on P-256."""


@dataclass(frozen=True, kw_only=True)
class SigningKey:
    """Signs what a client sends."""

    key: RSAKey | ECKey
    alg: str

    @classmethod
    def of_client(cls, client_id: str) -> SigningKey:
        """The key of a static client; it signs by other algorithms, too, though it is not meant to."""
        return _read_key("client2" if client_id.endswith("-2") else "client")

    def sign(self, claims: dict[str, Any], **header: str | None) -> str:
        """A JWT; None leaves a member out, of the header and of the claims."""
        head = {"alg": self.alg, "kid": str(self.key.kid)} | header
        members = {name: value for name, value in claims.items() if value is not None}
        present = {name: value for name, value in head.items() if value is not None}
        # Not as a JWT, because joserfc would add a `typ`.
        return jws.serialize_compact(
            present, json.dumps(members), self.key, algorithms=[str(head["alg"])]
        )


@cache
def _read_key(name: str) -> SigningKey:
    """Once, because an RSA key is checked as it is read, which takes longer than most tests."""
    member = dict(KEYS[name])
    alg = member.pop("alg")
    key = RSAKey.import_key(member) if member["kty"] == "RSA" else ECKey.import_key(member)
    return SigningKey(key=key, alg=alg)


def times(lifetime: int = 60, **changes: int | None) -> dict[str, int | None]:
    """The times of a JWT that is made now, with an identifier of its own left to the caller."""
    now = int(time.time())
    return {"iat": now, "nbf": now, "exp": now + lifetime} | changes


def identifier() -> str:
    """A `jti`, `state` or `nonce` that is used once."""
    return token_urlsafe(16)
