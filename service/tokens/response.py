"""What a token response says (RFC 6749 §5.1)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.protocol.scope import format_scope
from service.tokens.access_token import MintedToken

_STANDARD = frozenset(
    ("access_token", "token_type", "expires_in", "scope", "refresh_token", "id_token")
)


class TokenResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens that were issued; absent ones are left out of the answer."""

    access: MintedToken
    expires_in: int
    """Seconds, of the access token."""
    refresh_token: str | None
    id_token: str | None
    members: Mapping[str, object]

    def as_json(self) -> dict[str, object]:
        """The members of the response; a custom one never replaces a standard one."""
        told: dict[str, object] = {
            "access_token": self.access.token,
            "token_type": self.access.token_type,
            "expires_in": self.expires_in,
            "scope": format_scope(self.access.scope),
        }
        if self.refresh_token is not None:
            told["refresh_token"] = self.refresh_token
        if self.id_token is not None:
            told["id_token"] = self.id_token
        if self.members:
            told |= {name: self.members[name] for name in self.members if name not in _STANDARD}
        return told
