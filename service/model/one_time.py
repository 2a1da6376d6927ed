"""Records that are used once: a `Spent` marker takes their place in the same atomic step."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.model.confirmation import Confirmation
from service.protocol.pkce import CodeChallenge


class AuthorizationCode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The values that a code is bound to (RFC 6749 §4.1.2, RFC 7636 §4.4)."""

    redirect_uri: str
    code_challenge: CodeChallenge | None
    nonce: str | None


class RefreshToken(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One refresh token of a family (RFC 6749 §6)."""

    seed: str
    """The successor is derived from it and the token: a repeated request gets the same one."""
    ends_at: int
    """The absolute end of the family, seconds since the epoch."""
    sealed_claims: bytes = b""
    """The user's claims of the first access token, encrypted with a key derived from the token."""
    user_claims: Mapping[str, object] = {}
    """The same in the clear, as in the first version of the record; not written any more."""
    cnf: Confirmation | None = None
    """The key that a public client has to prove possession of to use it (RFC 9449 §5, RFC 8705 §4)."""


class Spent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Takes the place of a used code or refresh token, so that a replay is recognised."""

    attempt: str
    """The id of the request that used it: a retry by the store client is not a replay."""
    at: int
    refresh_token: RefreshToken | None = None
    """The used token, where a repeat within the reuse interval gets the same successor."""
