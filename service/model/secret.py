"""A secret that a client or an API shares with the service."""

from __future__ import annotations

import hashlib
from dataclasses import field

from service.model import types


@types.section
class Secret(types.Section):
    """A shared secret: its SHA-256 hash, or the secret itself where an algorithm needs it."""

    sha256: types.Sha256 | None = field(default=None, repr=False)
    """The SHA-256 hash of the secret, base64 or hex; `token-service new-secret` makes a secret and its hash, `hash-secret` only the hash."""
    value: types.Text | None = field(default=None, repr=False)
    """The secret itself, if client_secret_jwt or a symmetric algorithm needs it; otherwise give sha256."""
    description: str | None = None
    """A note for yourself."""
    expires_at: types.Timestamp | None = None
    """The time from which on it is not accepted (RFC 3339)."""
    digest: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compute the hash of a secret that is given by its value, so that no request has to."""
        hashed = self.sha256 or hashlib.sha256((self.value or "").encode()).digest()
        object.__setattr__(self, "digest", hashed)
