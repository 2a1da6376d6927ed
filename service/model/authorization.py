"""An authorization: every grant ends in one, and every token begins with one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec

from service.model.confirmation import Confirmation
from service.protocol.claims_request import ClaimsRequest
from service.protocol.scope import OFFLINE_ACCESS

DELEGATION = "delegation"
"""The grant type of a token that an API exchanged for a user's token, and its only `amr` value."""


class Authorization(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The scope that a user (or a client for itself) granted a client, and how the user authenticated.

    It holds `client_id` and never the client: no secret reaches Redis, and an edited registry
    counts at once. Every request reads it, so its record leaves out the defaults.
    """

    id: str
    """Selector of every handle that belongs to it; dropping its record revokes them all."""
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
    """Claims of a user from an identity provider; those of a local user come from the user store."""
    claims: Mapping[str, object] = {}
    """Claims that an extension grant adds to the access token."""
    act: Mapping[str, object] | None = None
    """The party that acts for the subject (RFC 8693 §4.1)."""
    claims_request: ClaimsRequest | None = None
    """The claims that the client asked for by name (OIDC Core §5.5)."""
    grant_type: str | None = None
    """It ends when the client may no longer use this grant; None in older records."""
    family_key: str | None = None
    """The key that recognises its used refresh tokens; None where it has none."""
    cnf: Confirmation | None = None
    """The key that its tokens are bound to, unless a token request proves possession of another one."""
    created_at: int

    @property
    def is_offline(self) -> bool:
        """Whether it outlives the session in which it was granted (OIDC Core §11)."""
        return OFFLINE_ACCESS in self.scope or self.session_id is None


def new_family_key(scope: frozenset[str]) -> str | None:
    """Return a key for the refresh tokens of an authorization with this scope, if it will have any."""
    return secrets.token_urlsafe(16) if OFFLINE_ACCESS in scope else None
