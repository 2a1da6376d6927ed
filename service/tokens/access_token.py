"""Minting access tokens: one set of claims, as a signed JWT or behind an opaque handle (RFC 9068)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from service.keys.keyring import KeyRing
from service.model.authorization import Authorization
from service.model.client import Client
from service.model.confirmation import token_type
from service.model.handle import new_handle
from service.protocol.scope import format_scope
from service.store.stores import Stores
from service.store.verbs import Write
from service.tokens.audience import Target
from service.tokens.claims import pick, unprivileged

_UNIQUE = 22
"""Characters of a hash that are as good as the 16 random bytes of any other `jti`."""


class MintedToken(msgspec.Struct, frozen=True, kw_only=True):
    """An access token, the writes that make it active, and what others need to know of it."""

    token: str
    name: str
    """What an index calls it: the handle's digest, or the `jti` of a JWT."""
    selector: str
    expires_at: int
    scope: frozenset[str]
    token_type: str
    writes: tuple[Write, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessTokens:
    """Makes access tokens; nothing is active before its writes are done."""

    issuer: str
    keys: KeyRing
    stores: Stores

    async def mint(
        self,
        authorization: Authorization,
        client: Client,
        target: Target,
        *,
        user_claims: Mapping[str, object],
        lifetime: int,
        now: int,
    ) -> MintedToken:
        """An access token for this target, which lives for `lifetime` seconds."""
        bound = authorization.subject is not None
        selector = authorization.id
        handle = None
        if client.access_token_type == "reference":
            handle = new_handle("access_token", selector)
        # A reference token has drawn all the randomness that its `jti` needs (RFC 7519 §4.1.7).
        unique = secrets.token_urlsafe(16) if handle is None else handle.digest[:_UNIQUE]
        jti = selector + unique if bound else unique
        claims: dict[str, object] = {
            "iss": self.issuer,
            "aud": _audience(target, self.issuer),
            "sub": authorization.subject or client.client_id,
            "client_id": client.client_id,
            "iat": now,
            "nbf": now,
            "exp": now + lifetime,
            "jti": jti,
            "scope": format_scope(target.scope),
        }
        claims |= _authentication(authorization)
        claims |= _custom_claims(authorization, client, target, user_claims)
        writes: tuple[Write, ...] = ()
        if handle is not None:
            token, name = handle.text, handle.digest
            writes = (self.stores.access_tokens.put(claims, selector, name, ttl=lifetime),)
        else:
            key = self.keys.signing_key(target.signing_algorithm)
            token, name = await key.sign(claims, typ="at+jwt"), jti
        return MintedToken(
            token=token,
            name=name,
            selector=selector,
            expires_at=now + lifetime,
            scope=target.scope,
            token_type=token_type(authorization.cnf),
            writes=writes,
        )


def _audience(target: Target, issuer: str) -> str | list[str]:
    """A string where there is one (RFC 7519 §4.1.3); this service where there is none."""
    if not target.audience:
        return issuer
    return target.audience[0] if len(target.audience) == 1 else list(target.audience)


def _authentication(authorization: Authorization) -> dict[str, object]:
    """How and when the user authenticated, and who acts for it (RFC 9068 §2.2.1, RFC 8693 §4.1)."""
    claims: tuple[tuple[str, object | None], ...] = (
        ("auth_time", authorization.auth_time),
        ("amr", authorization.amr or None),
        ("acr", authorization.acr),
        ("idp", authorization.idp),
        ("sid", authorization.session_id),
        ("act", authorization.act),
        ("cnf", authorization.cnf and authorization.cnf.as_claim()),
    )
    return {name: value for name, value in claims if value is not None}


def _custom_claims(
    authorization: Authorization,
    client: Client,
    target: Target,
    user_claims: Mapping[str, object],
) -> dict[str, object]:
    """What the API asks for of the user, and what the client's registration and the grant add."""
    claims: dict[str, object] = {}
    if target.user_claims:
        claims |= pick(user_claims, target.user_claims)
    if client.claims and (authorization.subject is None or client.always_send_client_claims):
        prefix = client.client_claims_prefix
        claims |= unprivileged({prefix + name: value for name, value in client.claims.items()})
    if authorization.claims:
        claims |= unprivileged(authorization.claims)
    return claims
