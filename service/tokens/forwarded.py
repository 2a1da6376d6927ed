"""Mints the short JWT by which a gateway tells an API what it has found out about a token (RFC 9068)."""

from __future__ import annotations

import msgspec

from service.clock import clock
from service.keys.keyring import KeyRing
from service.model.registry import ApiResource, LiveRegistry
from service.protocol.authorization_details import PARAMETER, put_details
from service.protocol.scope import format_scope
from service.tokens.active import ActiveToken
from service.tokens.authorization_details import details_for
from service.tokens.claims import foreign_claims

LIFETIME = 60
"""Seconds; never longer than the token that it is made of."""


class ForwardedTokens(msgspec.Struct, frozen=True, kw_only=True):
    keys: KeyRing
    registry: LiveRegistry

    async def mint(self, token: ActiveToken, api: ApiResource) -> str:
        """Return a JWT for this API alone, with what introspection would tell it.

        The key that the token is bound to has been proven to the gateway, so that the JWT is bound to none.
        """
        registry, now = self.registry.current, clock()
        others = foreign_claims(registry, token.audience, token.scope, api)
        claims = {name: value for name, value in token.claims.items() if name not in others}
        claims |= {
            "aud": api.url if api.url in token.audience else api.name,
            "scope": format_scope(token.scope & api.scopes),
            "iat": now,
            "nbf": now,
            "exp": min(now + LIFETIME, token.expires_at),
        }
        claims.pop("cnf", None)
        if PARAMETER in claims:
            put_details(claims, details_for(registry, token.authorization_details, (api.name,)))
        key = self.keys.signing_key(api.access_token_signing_algorithm)
        return await key.sign(claims, typ="at+jwt")
