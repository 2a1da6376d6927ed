"""A secret that a client or an API shares with the service."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Collection
from typing import Annotated

from service.model import marks, types

NEVER_MATCHES = bytes(32)
"""Compared if there is no secret, so that an unknown client takes as long as a known one."""


class Secret(marks.Confidential, frozen=True, kw_only=True):
    """A shared secret: a hash of it, or the secret itself where an algorithm needs it."""

    sha256: Annotated[types.Sha256 | None, marks.SECRET] = None
    """The SHA-256 hash of the secret, base64 or hex; `token-service new-secret` makes a secret and its hash, `hash-secret` only the hash."""
    sha512: Annotated[types.Sha512 | None, marks.SECRET] = None
    """The SHA-512 hash of the secret, base64 or hex, as IdentityServer may have kept it."""
    hash: Annotated[types.Text | None, marks.SECRET] = None
    """A slow hash of the secret that another server has kept, in a format of `users.list[].password`, such as
    $pbkdf2-sha256$i=25000,l=32$… of Hydra or $2b$…. Replace the secret by one with sha256 when you can."""
    value: Annotated[types.Text | None, marks.SECRET] = None
    """The secret itself, if client_secret_jwt or a symmetric algorithm needs it; otherwise give sha256."""
    description: str | None = None
    """A note for yourself."""
    expires_at: types.Timestamp | None = None
    """The time from which on it is not accepted (RFC 3339)."""

    @property
    def digest(self) -> bytes | None:
        """The fast hash of the secret, also of one that is given by its value; None where there is only a slow one."""
        if self.value is not None:
            return hashlib.sha256(self.value.encode()).digest()
        return self.sha256 or self.sha512

    def is_valid(self, now: int) -> bool:
        """Return whether it has not expired."""
        return self.expires_at is None or now < self.expires_at


def hash_by_sha256(secret: str) -> str:
    """Return the SHA-256 hash of a secret in base64, as `sha256` of the configuration may have it."""
    return base64.b64encode(hashlib.sha256(secret.encode()).digest()).decode()


def find_secret(secrets: Collection[Secret], given: str, *, now: int) -> Secret | None:
    """Return the secret that this is by its fast hash, and that has not expired; as slow without any."""
    sent = given.encode()
    known = [(one, one.digest) for one in secrets if one.is_valid(now)]
    fast = [(one, digest) for one, digest in known if digest is not None]
    hashed = {32: hashlib.sha256(sent).digest()}
    if any(len(digest) == _SHA512_BYTES for _, digest in fast):
        hashed[_SHA512_BYTES] = hashlib.sha512(sent).digest()
    digests = [digest for _, digest in fast] or [NEVER_MATCHES]
    matches = [hmac.compare_digest(hashed[len(other)], other) for other in digests]
    return next((one for (one, _), fits in zip(fast, matches, strict=False) if fits), None)


def verifies_any(secrets: Collection[Secret], given: str, *, now: int) -> bool:
    """Return whether a secret is one of these by its fast hash, and has not expired; as slow without any."""
    return find_secret(secrets, given, now=now) is not None


_SHA512_BYTES = 64
