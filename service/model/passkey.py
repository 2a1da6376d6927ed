"""Passkeys: the public key credentials of users (WebAuthn Level 3 §4, credential record)."""

from __future__ import annotations

from typing import Literal

import msgspec

ALGORITHMS = (-8, -7, -257)
"""Those of new passkeys, as COSE numbers them: Ed25519, ES256 and RS256 (WebAuthn §5.4), the best first."""


class Passkey(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is needed to verify the assertions of one authenticator; none of it is secret."""

    credential_id: str
    """Chosen by the authenticator; base64url."""
    public_key: str
    """A COSE key (RFC 9052 §7); base64url."""
    user_handle: str
    """Random, and the same in all passkeys of a user; base64url."""
    sign_count: int
    """How many assertions the authenticator says it has made; 0 if it does not count."""
    backup_eligible: bool
    """Whether it may be copied to other devices; this never changes."""
    transports: tuple[str, ...] = ()
    """How browsers reach the authenticator: `usb`, `internal`, `hybrid` and others."""

    @property
    def amr(self) -> tuple[str, ...]:
        """The methods of a use of it: a key that can be copied counts as software (RFC 8176 §2)."""
        return ("swk" if self.backup_eligible else "hwk", "user")


Refusal = Literal["malformed", "expired", "unknown", "unverified", "counter"]


class PasskeyRefused(Exception):
    """The response of an authenticator is not accepted; the text is for the audit log alone."""

    def __init__(self, reason: Refusal, cause: str) -> None:
        super().__init__(cause)
        self.reason: Refusal = reason
