"""The stored record of the signing keys."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """One key: announced, then signing, then retired; times are seconds since the epoch."""

    kid: str
    alg: str
    announced_at: int
    """When it was first published in the JWKS."""
    sign_from: int
    """When it begins to sign, unless it is rotated or retired by hand before."""
    retired_at: int | None
    """When it stopped signing; it stays published for some time."""
    sealed: str
    """The private JWK, encrypted with the configured key."""

    def is_retired(self, now: int) -> bool:
        return self.retired_at is not None and self.retired_at <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord:
    """All signing keys, in the one record of the store that never expires."""

    keys: tuple[SigningKey, ...]
