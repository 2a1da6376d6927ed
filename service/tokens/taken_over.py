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
from service.protocol.authorization_details import PARAMETER, read_details
from service.protocol.errors import InvalidAuthorizationDetails
from service.protocol.scope import format_scope, split_scope

_TIMES = frozenset({"auth_time", "exp", "iat"})
_LATEST = 1 << 33
"""Seconds since the epoch, in the year 2242: the store counts milliseconds until then."""
_JTI_LENGTH = 32
"""Unlike that of any `jti` or name of a token of this service, so that none is taken for another."""


def is_taken_over(jti: str) -> bool:
    """Return whether the server before has made the access token with this `jti`."""
    return len(jti) == _JTI_LENGTH


def read_claims(claims: VerifiedClaims, *, issuer: str) -> VerifiedClaims:
    """Return the claims by the names of this service; JwtRefused unless they are those of an access token.

    `jti` is a hash of the original one: it is part of keys of the store.
    """
    if claims.get("typ", "Bearer") not in ("Bearer", "DPoP"):
        raise JwtRefused("the server before has made it for another purpose")
    _check_forms(claims)
    client_id = claims.get("client_id")
    if client_id is None and "typ" in claims:  # else an ID token has azp, too
        client_id = claims.get("azp")
    jti, scope = claims.get("jti"), claims.get("scope", claims.get("scp", ""))
    if not isinstance(client_id, str) or not isinstance(jti, str):
        raise JwtRefused("it is not an access token of the server before")
    if isinstance(scope, list):
        scope = format_scope(frozenset(map(str, cast("list[object]", scope))))
    sub = claims.get("sub")
    if claims.get("preferred_username") == f"service-account-{client_id}":
        sub = client_id  # Keycloak's client that acts for itself
    elif sub is None and "typ" not in claims:
        sub = client_id  # IdentityServer's; in Keycloak users of a client without the scope basic have no sub, either
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


def _check_forms(claims: VerifiedClaims) -> None:
    """Raise JwtRefused for a claim that is read here and has no form that this service gives it."""
    for name in _TIMES & claims.keys():
        time = claims[name]
        if type(time) is not int or not 0 <= time < _LATEST:  # a bool is an int, too
            raise JwtRefused(f"its claim {name} is no time")
    audience, details = claims.get("aud"), claims.get(PARAMETER, [])
    names = cast("list[object]", audience) if isinstance(audience, list) else []
    if not all(isinstance(name, str) for name in names):
        raise JwtRefused("its claim aud is no list of texts")
    try:
        if details != []:
            read_details(details)
    except InvalidAuthorizationDetails as refused:
        raise JwtRefused(refused.description) from refused


def find_authorization(claims: Mapping[str, object], authorization_id: str) -> Authorization | None:
    """Return what the user granted, as far as the claims tell; None for a client that acts for itself."""
    client_id = str(claims["client_id"])
    granted_at, auth_time = claims.get("iat", 0), claims.get("auth_time")
    if claims["sub"] == client_id:
        return None
    return Authorization(
        id=authorization_id,
        client_id=client_id,
        scope=split_scope(str(claims["scope"])),
        subject=str(claims["sub"]),
        idp=LOCAL,
        auth_time=cast("int | None", auth_time),
        created_at=cast("int", granted_at),
    )
