"""Which claims of a user go where (OIDC Core §5.4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from service.model.registry import Registry
from service.model.resources import ApiResource

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


def identity_claims(
    registry: Registry, scope: Iterable[str], user_claims: Mapping[str, object]
) -> dict[str, object]:
    """What the granted identity resources tell of the user."""
    names = [
        name
        for value in sorted(scope)
        if (resource := registry.identity_resources.get(value)) is not None
        for name in resource.user_claims
    ]
    return pick(user_claims, names)


def api_claims(
    registry: Registry,
    scope: Iterable[str],
    audience: Iterable[str],
    user_claims: Mapping[str, object],
) -> dict[str, object]:
    """What the API resources and scopes of an access token want to know of the user."""
    return pick(user_claims, sorted(_wanted(registry, scope, audience)))


def foreign_claims(
    registry: Registry, audience: Collection[str], scope: Iterable[str], resource: ApiResource
) -> frozenset[str]:
    """User claims that stand in a token for other API resources than this one (RFC 7662 §5)."""
    if len(audience) == 1 and registry.api_scopes.keys().isdisjoint(set(scope) - resource.scopes):
        return frozenset()
    own = _wanted(registry, resource.scopes.intersection(scope), (resource.name,))
    return _wanted(registry, scope, audience) - own


def _wanted(registry: Registry, scope: Iterable[str], audience: Iterable[str]) -> frozenset[str]:
    """The names of user claims that these API scopes and resources ask for."""
    scopes = (registry.api_scopes[name] for name in scope if name in registry.api_scopes)
    resources = (
        registry.api_resources[name] for name in audience if name in registry.api_resources
    )
    return frozenset(
        [name for scope in scopes for name in scope.user_claims]
        + [name for resource in resources for name in resource.user_claims]
    )


def pick(claims: Mapping[str, object], names: Collection[str]) -> dict[str, object]:
    """The claims of these names, without any that would pose as the protocol's own."""
    return {name: claims[name] for name in names if name in claims and name not in PROTOCOL_CLAIMS}


def unprivileged(claims: Mapping[str, object]) -> dict[str, object]:
    """Claims that somebody else provides, without any that would pose as the protocol's own."""
    return {name: value for name, value in claims.items() if name not in PROTOCOL_CLAIMS}
