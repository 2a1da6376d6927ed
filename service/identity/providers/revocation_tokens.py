"""Verifies the JWT by which an identity provider asks for the end of all that one of its users has here, as Okta's Universal Logout does.

The draft leaves authentication open (draft-parecki-oauth-global-token-revocation-06 §3.2); the JWT is that of Okta's documentation.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.clock import clock
from service.identity.providers.provider import ProviderDirectory
from service.keys.foreign_keys import check_times, time_in
from service.keys.jose import (
    MAX_JWT_LENGTH,
    JwtRefused,
    type_of,
    unverified_claims,
    unverified_header,
)
from service.model.handle import digest
from service.model.identity_provider import IdentityProvider
from service.model.registry import LiveRegistry
from service.store.stores import Stores

TYPE = "global-token-revocation+jwt"

LIFETIME = 300
"""Seconds from now on until which such a JWT may be valid."""

LONGEST_JTI = 255


def is_revocation_token(token: str) -> bool:
    """Return whether a bearer token says that it is one; nothing is verified."""
    try:
        return len(token) <= MAX_JWT_LENGTH and type_of(unverified_header(token)) == TYPE
    except JwtRefused:
        return False


class RevocationTokens(msgspec.Struct, frozen=True, kw_only=True):
    directory: ProviderDirectory
    registry: LiveRegistry
    stores: Stores
    audiences: tuple[str, ...]
    """The URLs of the endpoint."""
    clock_skew: int

    async def verify(self, token: str) -> IdentityProvider:
        """Return the provider that signed the JWT for this service, and use it up; raise JwtRefused for every other one.

        Nothing in it says whom the request is about: so it is used up by the first request, whatever the answer is.
        """
        provider = self._find_provider(unverified_claims(token))
        known = await self.directory.find(provider)
        claims = await self.directory.verify(known, token, typ={TYPE})
        now, expires, jti = clock(), time_in(claims, "exp"), claims.get("jti")
        check_times(claims, now=now, clock_skew=self.clock_skew)
        if expires is None or expires > now + LIFETIME + self.clock_skew:
            raise JwtRefused(f"exp is missing, or more than {LIFETIME} seconds away")
        if not any(claims.get("aud") in (url, [url]) for url in self.audiences):
            raise JwtRefused("aud is not the URL of this endpoint alone")
        if not isinstance(jti, str) or not 0 < len(jti) <= LONGEST_JTI:
            raise JwtRefused(f"jti is not a text of 1 to {LONGEST_JTI} characters")
        key, ttl = digest(f"\n\n\n{provider.issuer}\n{jti}"), int(expires - now) + self.clock_skew
        if not await self.stores.is_first_use(self.stores.used_assertions, key, ttl=ttl):
            raise JwtRefused("it has been used before")
        return provider

    def _find_provider(self, unverified: Mapping[str, object]) -> IdentityProvider:
        """Return the provider that it claims to be from, of several entries one that may revoke; it names this service by `sub`."""
        iss, sub = unverified.get("iss"), unverified.get("sub")
        named = [
            each
            for each in self.registry.current.identity_providers.values()
            if each.is_openid and (each.issuer, each.client_id) == (iss, sub)
        ]
        if not named:
            raise JwtRefused("no provider has its iss, and knows this service by its sub")
        return max(named, key=lambda each: each.may_revoke_subjects)
