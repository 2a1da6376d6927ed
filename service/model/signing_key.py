"""What the store and the schedule know of a signing key, its private part sealed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """One key on its way announced → signing → retired → gone; times are seconds since the epoch."""

    kid: str
    alg: str
    announced_at: int
    """When it was first published in the JWKS."""
    sign_from: int
    """When it begins to sign, if nothing hastens or retires it before."""
    retired_at: int | None
    """When it stopped signing; it is published for some time more."""
    sealed: str
    """The private JWK, encrypted with the configured key."""

    def is_retired(self, now: int) -> bool:
        """Whether it has stopped signing."""
        return self.retired_at is not None and self.retired_at <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord:
    """All signing keys, as the one record in the store that never expires."""

    keys: tuple[SigningKey, ...]
