"""What works once: records that are swapped for a `Spent` marker when they are used."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.model.confirmation import Confirmation
from service.protocol.pkce import CodeChallenge


class AuthorizationCode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a code is bound to, beside its authorization (RFC 6749 §4.1.2, RFC 7636 §4.4)."""

    redirect_uri: str
    code_challenge: CodeChallenge | None
    nonce: str | None


class RefreshToken(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a refresh token knows, beside its authorization (RFC 6749 §6)."""

    seed: str
    """From which, with the token itself, the successor is derived: a repeat finds the same one."""
    ends_at: int
    """The absolute end of the family, seconds since the epoch."""
    sealed_claims: bytes = b""
    """The user's claims as the first access token carried them, under a key that is made of the token."""
    user_claims: Mapping[str, object] = {}
    """The same in the clear, as the first version of the record had them; not written any more."""
    cnf: Confirmation | None = None
    """The key that a public client has to prove possession of to use it (RFC 9449 §5, RFC 8705 §4)."""


class Spent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Stays under the key of a code or refresh token that was used, so that a replay is recognised."""

    attempt: str
    """Whose use it was, so that the store client's own retry is not taken for a replay."""
    at: int
    refresh_token: RefreshToken | None = None
    """What was spent, where a repeat within the reuse interval gets the same successor."""
