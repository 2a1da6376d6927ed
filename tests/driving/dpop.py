"""A client's key that tokens are bound to, and the proofs that it signs (RFC 9449 §4)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any

import orjson
from joserfc.jwk import ECKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from service.protocol.octets import base64url
from tests.driving.service import RunningService


@dataclass
class DpopKey:
    """Makes proofs; each can be spoiled in its header and claims, None leaves a member out."""

    issuer: str
    alg: str = "ES256"
    key: Any = field(default_factory=lambda: ECKey.generate_key("P-256"))

    @classmethod
    def for_algorithm(cls, alg: str, service: RunningService) -> DpopKey:
        """A new key for one of the algorithms."""
        if alg == "EdDSA":
            return cls(service.issuer, alg, OKPKey.generate_key("Ed25519"))
        curves = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
        key = ECKey.generate_key(curves[alg]) if alg in curves else RSAKey.generate_key(2048)
        return cls(service.issuer, alg, key)

    @property
    def thumbprint(self) -> str:
        """As `cnf.jkt` has it."""
        return str(self.key.thumbprint())

    def proof(
        self,
        path: str = "/connect/token",
        method: str = "POST",
        *,
        access_token: str | None = None,
        header: dict[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """A proof for this service."""
        members = {
            "htm": method,
            "htu": self.issuer + path,
            "iat": int(time.time()),
            "jti": token_urlsafe(16),
        }
        if access_token is not None:
            members["ath"] = base64url(sha256(access_token.encode()).digest())
        head = {"typ": "dpop+jwt", "alg": self.alg, "jwk": self.key.as_dict(private=False)}
        parts = (head | (header or {}), members | claims)
        signed = ".".join(base64url(orjson.dumps(without_none(part))) for part in parts)
        signature = JWSRegistry.algorithms[self.alg].sign(signed.encode(), self.key)
        return f"{signed}.{base64url(signature)}"

    def header(self, path: str = "/connect/token", **spoiled: Any) -> dict[str, str]:
        """The header of a request with a new proof."""
        return {"DPoP": self.proof(path, **spoiled)}


def without_none(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
