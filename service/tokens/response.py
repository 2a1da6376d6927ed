"""What a token response says (RFC 6749 §5.1)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.protocol.scope import format_scope


class TokenResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens that were issued; absent ones are left out of the answer."""

    access_token: str | None
    expires_in: int | None
    """Seconds, of the access token."""
    scope: frozenset[str]
    refresh_token: str | None
    id_token: str | None
    members: Mapping[str, object]

    def as_json(self) -> dict[str, object]:
        """The members of the response; a custom one never replaces a standard one."""
        standard: dict[str, object | None] = {
            "access_token": self.access_token,
            "token_type": "Bearer",
            "expires_in": self.expires_in,
            "scope": format_scope(self.scope),
            "refresh_token": self.refresh_token,
            "id_token": self.id_token,
        }
        present = {name: value for name, value in standard.items() if value is not None}
        return present | {k: v for k, v in self.members.items() if k not in standard}
