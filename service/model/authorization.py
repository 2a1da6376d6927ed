"""What was granted: the one noun in which every grant ends and with which every token begins."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec

from service.model.confirmation import Confirmation
from service.protocol.claims_request import ClaimsRequest

DELEGATION = "delegation"
"""The grant type of a token that an API exchanged for a user's token, and its only `amr` value."""


class Authorization(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which subject let which client do what, and how and when it authenticated.

    It holds `client_id` and never the client: no secret reaches Redis, and an edited registry
    counts at once. Every request reads it, so its record leaves out whatever is as usual.
    """

    id: str
    """Selector of every handle that comes from it; dropping its record revokes them all."""
    client_id: str
    scope: frozenset[str]
    resources: tuple[str, ...] = ()
    """The API resources asked for (RFC 8707 §2.1); empty where the scope decides."""
    subject: str | None = None
    """The user's `sub`; None where the client acts for itself (RFC 6749 §4.4)."""
    amr: tuple[str, ...] = ()
    acr: str | None = None
    idp: str | None = None
    auth_time: int | None = None
    session_id: str | None = None
    user_claims: Mapping[str, object] = {}
    """Claims of a user whom an identity provider vouched for; a local user's come from the store."""
    claims: Mapping[str, object] = {}
    """Claims that an extension grant adds to the access token."""
    act: Mapping[str, object] | None = None
    """Who acts for the subject (RFC 8693 §4.1)."""
    claims_request: ClaimsRequest | None = None
    """What the client asked for by name, at its own userinfo and in its identity tokens (OIDC Core §5.5)."""
    grant_type: str | None = None
    """By which grant it began: it ends when the client may no longer use that; None in older records."""
    family_key: str | None = None
    """By which its refresh tokens are known again after they were used; None where it has none."""
    cnf: Confirmation | None = None
    """The key that its tokens are bound to, unless a token request proves possession of another one."""
    created_at: int

    @property
    def offline(self) -> bool:
        """Whether it outlives the session it came from (OIDC Core §11)."""
        return "offline_access" in self.scope or self.session_id is None


def new_family_key(scope: frozenset[str]) -> str | None:
    """The key of the refresh tokens that an authorization with this scope will have, if any."""
    return secrets.token_urlsafe(16) if "offline_access" in scope else None
