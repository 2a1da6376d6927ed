"""Logout tokens: whose session at which client has ended (OpenID Connect Back-Channel Logout §2.4)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from service.clients.keys import ClientKeys
from service.model.client import Client
from service.model.session import LogoutDelivery
from service.tokens.subject import SubjectIdentifiers

LOGOUT_TOKEN_TYPE = "logout+jwt"
LIFETIME = 120
"""Seconds; the longest that the specification likes (OIDC Back-Channel Logout §4)."""

_EVENT = "http://schemas.openid.net/event/backchannel-logout"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutTokens:
    """Makes them, each for one attempt."""

    issuer: str
    keys: ClientKeys
    identifiers: SubjectIdentifiers

    async def mint(self, delivery: LogoutDelivery, client: Client, *, now: int) -> str:
        """The signed token; it can never pass for an identity token, which has no `events` (OIDC Back-Channel Logout §4.1)."""
        claims: dict[str, object] = {
            "iss": self.issuer,
            "sub": self.identifiers.find_sub(client, delivery.subject),
            "aud": client.client_id,
            "iat": now,
            "exp": now + LIFETIME,
            "jti": secrets.token_urlsafe(16),
            "events": {_EVENT: {}},
            "sid": delivery.session_id,
        }
        key = self.keys.signing_key(client, client.id_token_signed_response_alg)
        return await key.sign(claims, typ=LOGOUT_TOKEN_TYPE)
