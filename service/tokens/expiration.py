"""Tells clients when a refresh token and its authorization expire (draft-ietf-oauth-refresh-token-expiration-03)."""

from __future__ import annotations

from collections.abc import Mapping

from service.clock import clock
from service.tokens.refresh_token import MintedRefreshToken

METADATA: Mapping[str, object] = {
    "refresh_token_expiration_types_supported": ["authorization", "token_timeout"]
}


def expiration_members(refresh: MintedRefreshToken) -> Mapping[str, object]:
    """Return for how long the token may lie unused, and when no use of it helps any more."""
    return {
        "refresh_token_timeout": refresh.lifetime,
        "authorization_expires_in": refresh.ends_at - clock(),
    }
