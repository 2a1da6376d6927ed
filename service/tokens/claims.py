"""Which claims of a user go where (OIDC Core §5.4, §5.5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from service.model.client import Client
from service.model.registry import Registry
from service.model.resources import Api, ApiResource
from service.protocol.claim_names import find_claim, untagged
from service.protocol.claims_request import ClaimsRequest

PROTOCOL_CLAIMS = frozenset(
    {
        "iss",
        "aud",
        "sub",
        "client_id",
        "iat",
        "nbf",
        "exp",
        "jti",
        "scope",
        "auth_time",
        "amr",
        "acr",
        "azp",
        "idp",
        "sid",
        "cnf",
        "act",
        "nonce",
        "at_hash",
        "c_hash",
        "s_hash",
        "token_type",
        "active",
        "typ",
        "events",
    }
)
"""Claims that mean something to the protocol: no user, client or grant can set them."""

_EMPTY: tuple[object, ...] = (None, "", [], {})


def identity_claims(
    registry: Registry,
    scope: Iterable[str],
    user_claims: Mapping[str, object],
    request: ClaimsRequest | None,
) -> dict[str, object]:
    """What the granted identity resources tell of the user, in the languages asked for."""
    locales = request.locales if request is not None else ()
    return _told(user_claims, claims_of_scope(registry, scope), locales)


def individual_claims(
    registry: Registry,
    client: Client,
    names: Collection[str],
    user_claims: Mapping[str, object],
    locales: Collection[str],
) -> dict[str, object]:
    """What was asked for by name, as far as the client may ask for it today (OIDC Core §5.5.1)."""
    return _told(user_claims, askable(registry, client, names), locales)


def askable(registry: Registry, client: Client, names: Collection[str]) -> tuple[str, ...]:
    """Those claims, in any language, that belong to a scope which the client may ask for."""
    if not names:
        return ()
    known = frozenset(claims_of_scope(registry, client.allowed_scopes)) - PROTOCOL_CLAIMS
    return tuple(name for name in names if untagged(name) in known)


def claims_of_scope(registry: Registry, scope: Iterable[str]) -> list[str]:
    """The claims that the identity resources among these scope values stand for (OIDC Core §5.4)."""
    return [
        name
        for value in sorted(scope)
        if (resource := registry.identity_resources.get(value)) is not None
        for name in resource.user_claims
    ]


def api_claims(registry: Registry, scope: Iterable[str], audience: Iterable[str]) -> frozenset[str]:
    """The names of the user's claims that these API scopes and resources ask for."""
    scopes = (registry.api_scopes[name] for name in scope if name in registry.api_scopes)
    resources = (
        registry.api_resources[name] for name in audience if name in registry.api_resources
    )
    return frozenset(
        [name for scope in scopes for name in scope.user_claims]
        + [name for resource in resources for name in resource.user_claims]
    )


def foreign_claims(
    registry: Registry, audience: Collection[str], scope: Iterable[str], api: Api
) -> frozenset[str]:
    """Return the names of user claims that stand in a token for other APIs than this one (RFC 7662 §5)."""
    own_audience = (api.name,) if isinstance(api, ApiResource) else ()
    if len(audience) == len(own_audience) and registry.api_scopes.keys().isdisjoint(
        set(scope) - api.scopes
    ):
        return frozenset()
    own = api_claims(registry, api.scopes.intersection(scope), own_audience)
    return api_claims(registry, scope, audience) - own


def _told(
    claims: Mapping[str, object], names: Iterable[str], locales: Collection[str]
) -> dict[str, object]:
    """The claims of these names; an empty one is as good as none (OIDC Core §5.3.2)."""
    told: dict[str, object] = {}
    for name in names:
        found = find_claim(claims, name, locales) if locales or "#" in name else name
        if found not in claims or name in PROTOCOL_CLAIMS or claims[found] in _EMPTY:
            continue
        told[found if "#" in name else name] = claims[found]
    return told


def pick(claims: Mapping[str, object], names: Collection[str]) -> dict[str, object]:
    """The claims of these names, without any that would pose as the protocol's own."""
    return {name: claims[name] for name in names if name in claims and name not in PROTOCOL_CLAIMS}


def without_protocol_claims(claims: Mapping[str, object]) -> dict[str, object]:
    """Claims that somebody else provides, without any that would pose as the protocol's own."""
    return {name: value for name, value in claims.items() if name not in PROTOCOL_CLAIMS}
