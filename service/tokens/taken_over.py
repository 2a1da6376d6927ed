"""Reads access tokens of the server before this one, whose keys are in `signing.verify_only`, as tokens of this service.

Keycloak names the client by `azp`, and says in the claim `typ` what a token is; Hydra lists the scope in `scp`, and
IdentityServer in an array. The user is asked for here, by `sub`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from service.keys.jose import JwtRefused, VerifiedClaims
from service.model.authorization import Authorization
from service.model.handle import digest
from service.model.user import LOCAL
from service.protocol.scope import format_scope, split_scope

_JTI_LENGTH = 32
"""Unlike that of any `jti` or name of a token of this service, so that none is taken for another."""


def read_claims(claims: VerifiedClaims, *, issuer: str) -> VerifiedClaims:
    """Return the claims by the names of this service; JwtRefused unless they are those of an access token.

    `jti` is a hash of the original one: it is part of keys of the store.
    """
    if claims.get("typ", "Bearer") not in ("Bearer", "DPoP"):
        raise JwtRefused("the server before has made it for another purpose")
    client_id = claims.get("client_id")
    if client_id is None and "typ" in claims:  # else an ID token has azp, too
        client_id = claims.get("azp")
    jti, scope = claims.get("jti"), claims.get("scope", claims.get("scp", ""))
    if not isinstance(client_id, str) or not isinstance(jti, str):
        raise JwtRefused("it is not an access token of the server before")
    if isinstance(scope, list):
        scope = format_scope(frozenset(map(str, cast("list[object]", scope))))
    sub = claims.get("sub", client_id)
    if claims.get("preferred_username") == f"service-account-{client_id}":
        sub = client_id  # Keycloak's client that acts for itself
    return VerifiedClaims(
        {
            **claims,
            "client_id": client_id,
            "sub": sub,
            "aud": claims.get("aud") or issuer,
            "jti": digest(jti)[:_JTI_LENGTH],
            "scope": str(scope),
        }
    )


def find_authorization(claims: Mapping[str, object], authorization_id: str) -> Authorization | None:
    """Return what the user granted, as far as the claims tell; None for a client that acts for itself."""
    client_id = str(claims["client_id"])
    granted_at, auth_time = claims.get("iat"), claims.get("auth_time")
    if claims["sub"] == client_id:
        return None
    return Authorization(
        id=authorization_id,
        client_id=client_id,
        scope=split_scope(str(claims["scope"])),
        subject=str(claims["sub"]),
        idp=LOCAL,
        auth_time=auth_time if isinstance(auth_time, int) else None,
        created_at=granted_at if isinstance(granted_at, int) else 0,
    )
