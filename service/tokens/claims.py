"""Selects the user claims for ID tokens, userinfo and APIs (OIDC Core §5.4, §5.5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from service.model.authorization import Authorization
from service.model.client import Client
from service.model.registry import Registry
from service.model.resources import Api, ApiResource
from service.protocol.claims import find_claim, remove_language

PROTOCOL_CLAIMS = frozenset(
    (
        *("iss", "aud", "sub", "client_id", "iat", "nbf", "exp", "jti", "scope", "auth_time"),
        *("amr", "acr", "azp", "idp", "sid", "cnf", "act", "nonce", "at_hash", "c_hash", "s_hash"),
        *("token_type", "active", "typ", "events", "authorization_details"),
    )
)
"""Claims of the protocol itself: the mint drops them wherever a user, a client, an operator or a plug-in sets them."""

_EMPTY: tuple[object, ...] = (None, "", [], {})


def select_claims(
    claims: Mapping[str, object], names: Iterable[str], locales: Collection[str]
) -> dict[str, object]:
    """Return the claims of these names that are not empty, in these languages if there are any (OIDC Core §5.3.2)."""
    selected: dict[str, object] = {}
    for name in names:
        found = find_claim(claims, name, locales) if locales or "#" in name else name
        if found in claims and claims[found] not in _EMPTY:
            selected[found if "#" in name else name] = claims[found]
    return selected


def askable(registry: Registry, client: Client, names: Collection[str]) -> tuple[str, ...]:
    """Return the names, in any language, of claims that the client may still ask for by name (OIDC Core §5.5.1)."""
    if not names:
        return ()
    known = frozenset(claims_of_scope(registry, client.allowed_scopes)) - PROTOCOL_CLAIMS
    return tuple(name for name in names if remove_language(name) in known)


def claims_of_scope(registry: Registry, scope: Iterable[str]) -> list[str]:
    """Return the claim names of the identity resources among these scope values (OIDC Core §5.4)."""
    return [
        name
        for value in sorted(scope)
        if (resource := registry.identity_resources.get(value)) is not None
        for name in resource.user_claims
    ]


def api_claims(registry: Registry, scope: Iterable[str], audience: Iterable[str]) -> frozenset[str]:
    """Return the names of the user claims that these scope values and resources put into access tokens."""
    scopes, apis = registry.api_scopes, registry.apis_by_identifier
    identity = registry.identity_resources
    names = [
        *[scopes[name].user_claims for name in scope if name in scopes],
        *[identity[name].access_token_claims for name in scope if name in identity],
        *[apis[name].user_claims for name in audience if name in apis],
    ]
    return frozenset(chain.from_iterable(names))


def foreign_claims(
    registry: Registry, audience: Collection[str], scope: Iterable[str], api: Api
) -> frozenset[str]:
    """Return the names of user claims that a token holds for other APIs than this one (RFC 7662 §5)."""
    own_audience = (api.name,) if isinstance(api, ApiResource) else ()
    if len(audience) == len(own_audience) and registry.api_scopes.keys().isdisjoint(
        set(scope) - api.scopes
    ):
        return frozenset()
    of_nobody = registry.identity_resources.keys()
    own = api_claims(registry, (api.scopes | of_nobody).intersection(scope), own_audience)
    return api_claims(registry, scope, audience) - own


def pick(claims: Mapping[str, object], names: Collection[str]) -> dict[str, object]:
    """Return the claims of these names, as they are."""
    return {name: claims[name] for name in names if name in claims}


def without_protocol_claims(claims: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in claims.items() if name not in PROTOCOL_CLAIMS}


def put_authentication_claims(claims: dict[str, object], authorization: Authorization) -> None:
    """Add when and how the user authenticated, in which session, and who acts for the user (RFC 9470 §6, RFC 8693 §4.1)."""
    if authorization.auth_time is not None:
        claims["auth_time"] = authorization.auth_time
    if authorization.amr:
        claims["amr"] = authorization.amr
    if authorization.acr is not None:
        claims["acr"] = authorization.acr
    if authorization.session_id is not None:
        claims["sid"] = authorization.session_id
    if authorization.act is not None:
        claims["act"] = authorization.act


def put_claims_for_apis(
    claims: dict[str, object],
    authorization: Authorization,
    client: Client,
    names: Collection[str],
    user_claims: Mapping[str, object],
) -> None:
    """Add the authentication, the user's provider and the key that the token is bound to; then the claims of user, client and grant."""
    put_authentication_claims(claims, authorization)
    if authorization.idp is not None:
        claims["idp"] = authorization.idp
    if authorization.cnf is not None:
        claims["cnf"] = authorization.cnf.as_claim()
    further: dict[str, object] = {}
    if names:
        further |= pick(user_claims, names)
    own = client.user_claims
    if own is not None and authorization.subject is not None:
        further |= own.find(own.access_token, user_claims)
    if client.claims and (authorization.subject is None or client.always_send_client_claims):
        prefix = client.client_claims_prefix
        further |= {prefix + name: value for name, value in client.claims.items()}
    if authorization.claims:
        further |= authorization.claims
    if further:
        claims |= without_protocol_claims(further)
