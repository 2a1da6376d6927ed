"""Events about passkeys, described in docs/operations/logs.md; none holds a credential."""

from __future__ import annotations

from typing import Literal

import msgspec

PasskeyRefusal = Literal["malformed", "expired", "unknown", "unverified", "counter", "locked"]


class PasskeySignInSucceeded(msgspec.Struct, frozen=True, kw_only=True):
    """A user has signed in by a passkey alone."""

    subject: str
    username: str
    address: str


class PasskeyRejected(msgspec.Struct, frozen=True, kw_only=True):
    """A counter that goes back (`counter`) may mean that somebody has copied the key."""

    subject: str | None
    """Whose passkey it is, as far as is known; the use is not proved."""
    address: str
    reason: PasskeyRefusal
    cause: str
