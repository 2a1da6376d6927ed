"""A secret that a client or an API shares with the service."""

from __future__ import annotations

import hashlib
from typing import Annotated

from service.model import types


class Secret(types.Confidential, frozen=True, kw_only=True):
    """A shared secret: its SHA-256 hash, or the secret itself where an algorithm needs it."""

    sha256: Annotated[types.Sha256 | None, types.SECRET] = None
    """The SHA-256 hash of the secret, base64 or hex; `token-service new-secret` makes a secret and its hash, `hash-secret` only the hash."""
    value: Annotated[types.Text | None, types.SECRET] = None
    """The secret itself, if client_secret_jwt or a symmetric algorithm needs it; otherwise give sha256."""
    description: str | None = None
    """A note for yourself."""
    expires_at: types.Timestamp | None = None
    """The time from which on it is not accepted (RFC 3339)."""

    @property
    def digest(self) -> bytes:
        """The hash of the secret, also of one that is given by its value."""
        return self.sha256 or hashlib.sha256((self.value or "").encode()).digest()
