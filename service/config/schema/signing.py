"""Which keys sign, where they come from and how they rotate."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from service.config.schema.section import Section
from service.config.schema.types import (
    Duration,
    EncryptionKeys,
    FilePath,
    Lifetime,
    Many,
    SigningAlgorithm,
    Timestamp,
)


class SigningKey(Section):
    """One of the operator's own keys."""

    path: FilePath
    """A private key, PEM or JWK."""
    use: Literal["sig", "enc"] = "sig"
    """What it is for."""
    algorithm: str | None = None
    """The one algorithm it is for; null: what fits its type."""
    sign_from: Timestamp | None = None
    """Published, but not used before this time."""
    retire_at: Timestamp | None = None
    """Not used from this time on, but still published."""


class Signing(Section):
    """Which keys sign, where they come from and how they rotate."""

    algorithms: Annotated[Many[SigningAlgorithm], Field(min_length=1)] = ("RS256",)
    """The signature algorithms on offer, RS, PS and ES with 256, 384 or 512, and EdDSA; the first is the default."""
    source: Literal["store", "files"] = "store"
    """store: made and rotated by the service, encrypted, shared by all replicas. files: the operator's own, listed
    under keys."""
    keys: Many[SigningKey] = ()
    """The operator's own keys, for source: files."""
    encryption_key: EncryptionKeys = Field(default=None, validate_default=True, repr=False)
    """32 bytes in base64url that the keys in the store are encrypted with; required with a Redis store. In a list the
    first encrypts and all decrypt, so that it can be rotated. `python -m service new-key` makes one."""
    rotate_every: Lifetime = 90 * 86400
    """How long a key signs."""
    announce_before: Duration = 14 * 86400
    """How long a key is published in the JWKS before it signs."""
    retire_after: Duration = 14 * 86400
    """How long a key is published after it has stopped signing."""
