"""Nonces for DPoP proofs: every replica makes and accepts them, and nothing is stored (RFC 9449 §8)."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field

from service.clock import clock
from service.keys.jose import Key
from service.keys.keyring import KeyRing
from service.model.client import Client
from service.protocol.base64url import base64url

HEADER = "DPoP-Nonce"

_PURPOSE = b"DPoP nonce"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nonces:
    """A nonce is the HMAC of a period, by a key that is made of a signing key, which all replicas have."""

    keys: KeyRing
    lifetime: int
    """Seconds of a period; a nonce is accepted in its own and the next one."""
    always: bool
    """Whether every client needs a nonce, and not only those that are registered so."""
    _secrets: dict[str, bytes] = field(default_factory=dict[str, bytes], init=False, repr=False)

    def are_needed_by(self, client: Client | None) -> bool:
        """Return whether the client's proofs need a nonce; None for a client that is not known."""
        return self.always or (client is not None and client.dpop_nonce_required)

    def header(self) -> dict[str, str]:
        """Return the header with the nonce for the next proof."""
        return {HEADER: self._make(self.keys.signing_key(), clock() // self.lifetime)}

    def accept(self, nonce: object) -> bool:
        """Return whether a replica made the nonce in this period, the one before, or by a clock ahead the next."""
        if not isinstance(nonce, str) or not nonce.isascii():
            return False
        now, keys = clock() // self.lifetime, self.keys.private_keys
        made = (self._make(key, period) for period in (now, now - 1, now + 1) for key in keys)
        return any(hmac.compare_digest(nonce, each) for each in made)

    def _make(self, key: Key, period: int) -> str:
        secret = self._secrets.get(key.kid)
        if secret is None:
            secret = self._secrets[key.kid] = key.derive_secret(_PURPOSE)
        return base64url(hmac.digest(secret, str(period).encode(), "sha256"))
