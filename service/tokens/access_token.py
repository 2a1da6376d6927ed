"""Mints access tokens: one set of claims, as a signed JWT (RFC 9068) or behind an opaque handle."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Mapping

import msgspec

from service.clock import clock
from service.keys.jose import Key
from service.keys.keyring import KeyRing
from service.model.authorization import Authorization, token_type
from service.model.client import Client
from service.model.handle import new_handle
from service.model.registry import LiveRegistry
from service.model.resources import ApiResource
from service.protocol.authorization_details import PARAMETER, Detail, put_details
from service.protocol.errors import InvalidScope
from service.protocol.octets import random_text
from service.protocol.scope import format_scope
from service.store.stores import Stores
from service.store.verbs import Command
from service.tokens.active import ActiveToken
from service.tokens.claims import foreign_claims, put_claims_for_apis
from service.tokens.target import FoundTarget, Target, Targets

_UNIQUE = 22
"""Characters of a hash that are as good as the 16 random bytes of any other `jti`."""

FORWARDED_LIFETIME = 60
"""Seconds of a JWT for an API; never longer than the token that it is made of."""


class MintedToken(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An access token and the writes that make it active."""

    token: str
    token_type: str
    name: str
    """Its name in an index: the handle's digest, or the `jti` of a JWT."""
    sha256: str | None
    """Its hash, base64url, where its record needs it."""
    lifetime: int
    expires_at: int
    target: Target
    authorization_details: tuple[Detail, ...]
    writes: tuple[Command, ...]

    def describe(self) -> dict[str, object]:
        """Return the members of a response with it (RFC 6749 §4.2.2, §5.1, RFC 9396 §7)."""
        members: dict[str, object] = {
            "access_token": self.token,
            "token_type": self.token_type,
            "expires_in": self.lifetime,
            "scope": self.target.scope_text,
        }
        if self.authorization_details:
            put_details(members, self.authorization_details)
        return members


class AccessTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Makes access tokens; none is active before its writes are done."""

    issuer: str
    keys: KeyRing
    stores: Stores
    targets: Targets

    async def mint(
        self,
        authorization: Authorization,
        client: Client,
        *,
        target: FoundTarget,
        user_claims: Mapping[str, object],
        always_jwt: bool = False,
        at_most: int = sys.maxsize,
        ends_at: int = sys.maxsize,
    ) -> MintedToken:
        """Make an access token for a target of the authorization, for `at_most` seconds or until `ends_at` if given."""
        now, (for_apis, details) = clock(), target
        _check_for_admin_api(for_apis, authorization, client)
        lifetime = min(client.access_token_lifetime, at_most, _end(authorization, ends_at) - now)
        is_reference = client.access_token_type == "reference" and not always_jwt
        handle = new_handle("access_token", authorization.id) if is_reference else None
        # A reference token has drawn all the randomness that its `jti` needs (RFC 7519 §4.1.7).
        unique = random_text(16) if handle is None else handle.digest[:_UNIQUE]
        jti = unique if authorization.subject is None else authorization.id + unique
        claims: dict[str, object] = {
            "iss": self.issuer,
            "aud": for_apis.aud or self.issuer,
            "sub": authorization.subject or client.client_id,
            "client_id": client.client_id,
            "iat": now,
            "nbf": now,
            "exp": now + lifetime,
            "jti": jti,
            "scope": for_apis.scope_text,
        }
        put_claims_for_apis(claims, authorization, client, for_apis.user_claims, user_claims)
        if details:
            put_details(claims, details)
        if handle is None:
            key = self.keys.signing_key(for_apis.signing_algorithm or client.default_signing_alg)
            token, name, write = await _sign(claims, client, key), jti, None
        else:
            token, name = handle.text, handle.digest
            write = self.stores.access_tokens.put(claims, handle.selector, name, ttl=lifetime)
        return MintedToken(
            token=token,
            token_type=token_type(authorization.cnf),
            name=name,
            sha256=None if handle is None else name,
            lifetime=lifetime,
            expires_at=now + lifetime,
            target=for_apis,
            authorization_details=details,
            writes=() if write is None else (write,),
        )


def _check_for_admin_api(target: Target, authorization: Authorization, client: Client) -> None:
    """Raise InvalidScope if the token would be for the admin API, and is not a configured client's own or a user's by a code."""
    if not target.is_for_admin_api:
        return
    # A derived token has the grant type by which it was derived, or none although it has a user.
    grant_type = None if authorization.subject is None else "authorization_code"
    if authorization.grant_type != grant_type or client.dynamically_registered:
        raise InvalidScope("scope holds a value of the admin API, which this token cannot be for")


def _sign(claims: dict[str, object], client: Client, key: Key) -> Awaitable[str]:
    if client.access_token_typ == "JWT":  # which ID tokens are, too (RFC 8725 §3.12)
        claims["typ"], claims["azp"] = "Bearer", client.client_id  # as Keycloak's have
    return key.sign(claims, typ=client.access_token_typ)


def _end(authorization: Authorization, ends_at: int) -> int:
    source = authorization.source
    return ends_at if source is None else min(ends_at, source.expires_at)


class ForwardedTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Makes the short JWTs by which a gateway tells an API what it has found out about a token."""

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
            "exp": min(now + FORWARDED_LIFETIME, token.expires_at),
        }
        claims.pop("cnf", None)
        if PARAMETER in claims:
            put_details(claims, registry.details_for(token.authorization_details, (api.name,)))
        key = self.keys.signing_key(api.access_token_signing_algorithm)
        return await key.sign(claims, typ="at+jwt")
