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
from service.protocol.authorization_details import Detail, put_details
from service.protocol.octets import random_text
from service.store.stores import Stores
from service.store.verbs import Command
from service.tokens.claims import pick, put_authentication_claims, without_protocol_claims
from service.tokens.scope import FoundTarget, Target, Targets

_UNIQUE = 22
"""Characters of a hash that are as good as the 16 random bytes of any other `jti`."""


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
        put_authentication_claims(claims, authorization)
        _put_further_claims(claims, authorization, client, for_apis, user_claims)
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


def _sign(claims: dict[str, object], client: Client, key: Key) -> Awaitable[str]:
    if client.access_token_typ == "JWT":  # which ID tokens are, too (RFC 8725 §3.12)
        claims["typ"] = "Bearer"
    return key.sign(claims, typ=client.access_token_typ)


def _end(authorization: Authorization, ends_at: int) -> int:
    source = authorization.source
    return ends_at if source is None else min(ends_at, source.expires_at)


def _put_further_claims(
    claims: dict[str, object],
    authorization: Authorization,
    client: Client,
    target: Target,
    user_claims: Mapping[str, object],
) -> None:
    """Add the user's provider and the key that the token is bound to; then the claims of user, client and grant."""
    if authorization.idp is not None:
        claims["idp"] = authorization.idp
    if authorization.cnf is not None:
        claims["cnf"] = authorization.cnf.as_claim()
    further: dict[str, object] = {}
    if target.user_claims:
        further |= pick(user_claims, target.user_claims)
    if client.claims and (authorization.subject is None or client.always_send_client_claims):
        prefix = client.client_claims_prefix
        further |= {prefix + name: value for name, value in client.claims.items()}
    if authorization.claims:
        further |= authorization.claims
    if further:
        claims |= without_protocol_claims(further)
