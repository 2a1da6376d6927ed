"""What a token response says (RFC 6749 §5.1)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.protocol.scope import format_scope

_OPTIONAL = ("access_token", "expires_in", "refresh_token", "id_token")
_STANDARD = frozenset({*_OPTIONAL, "token_type", "scope"})


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
        present: dict[str, object] = {"token_type": "Bearer", "scope": format_scope(self.scope)}
        for name in _OPTIONAL:
            value = getattr(self, name)
            if value is not None:
                present[name] = value
        if self.members:
            return {k: v for k, v in self.members.items() if k not in _STANDARD} | present
        return present
