"""Finds the audience of an access token, with the scope and the user's claims that belong to it (RFC 8707 §2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from service.caching import BoundedCache
from service.model.authorization import Authorization
from service.model.client import Client
from service.model.registry import LiveRegistry, Registry
from service.model.resources import ApiResource, ApiScope
from service.protocol.authorization_details import Detail
from service.protocol.errors import InvalidGrant
from service.protocol.scope import format_scope
from service.tokens.claims import api_claims, pick
from service.tokens.granting import ContinuedGrant, DerivedGrant, NewGrant

MAX_TARGETS = 1000
"""Targets that are remembered; there are as many as kinds of requests, not as requests."""

_Wanted = tuple[frozenset[str], tuple[str, ...], frozenset[str]]
"""A scope, the resources asked for, and the APIs that authorization_details are for."""


class Target(msgspec.Struct, frozen=True):
    """The APIs that an access token is for, and the scope values that they understand."""

    scope: tuple[str, ...]
    """Sorted."""
    signing_algorithm: str | None
    """The one that all these resources ask for, if they agree on one."""
    user_claims: tuple[str, ...]
    """The names of the user's claims that these resources and this scope ask for."""
    claims_of_narrowed: tuple[str, ...]
    """The same for all tokens for less that may follow, whichever of the resources they name."""
    required_acr: frozenset[str]
    """The authentication contexts that its APIs and scope values demand of users, all of them."""
    scope_text: str
    """The scope as the claim and the response write it."""
    aud: str | tuple[str, ...] | None
    """The `aud` claim: a string for one API (RFC 7519 §4.1.3), None for this service alone."""
    is_for_admin_api: bool
    """Whether the admin API is among its APIs, which few tokens may be for."""


FoundTarget = tuple[Target, tuple[Detail, ...]]
"""With the authorization_details that its APIs understand."""


class Targets:
    """Finds targets, and remembers those of the registry in force: few are asked for again and again."""

    def __init__(self, registry: LiveRegistry) -> None:
        self._registry = registry
        self._known = BoundedCache[_Wanted, Target](MAX_TARGETS)
        self._known_of: Registry | None = None

    def find(
        self,
        authorization: Authorization,
        scope: frozenset[str] | None = None,
        resources: tuple[str, ...] | None = None,
        details: tuple[Detail, ...] | None = None,
    ) -> FoundTarget:
        """Return the target of a token for what was authorized or for less, and the details that its APIs understand."""
        registry = self._registry.current
        scope = authorization.scope if scope is None else scope
        resources = authorization.resources if resources is None else resources
        details = authorization.authorization_details if details is None else details
        understanding: frozenset[str] = frozenset()
        if details:
            understanding = registry.find_apis_of(details)
            if resources:
                understanding &= registry.api_names(resources)
            details = registry.details_for(details, understanding)
        return self._find(registry, (scope, resources, understanding)), details

    def find_for(
        self, grant: NewGrant | ContinuedGrant | DerivedGrant, client: Client
    ) -> FoundTarget:
        """Return the target of a grant's access token.

        InvalidGrant, before anything is consumed, if the user has to authenticate in a stronger way for it.
        """
        origin = grant.authorization
        if type(grant) is ContinuedGrant:  # `isinstance` takes longer where it is another struct
            details = grant.authorization_details
            target = self.find(origin, grant.scope, grant.resources, details)
        else:
            target = self.find(origin)
            if isinstance(grant, DerivedGrant):  # whose own `amr` says how it was derived
                origin = grant.source.authorization or origin
        self.require_acr(client, target[0].required_acr, origin)
        return target

    def require_acr(self, client: Client, required: frozenset[str], origin: Authorization) -> None:
        """Raise InvalidGrant if the user's authentication is weaker than the client or `required` demands (RFC 9470 §5).

        `origin` is the authorization in which the user has authenticated.
        """
        if client.required_acr is not None:
            required |= {client.required_acr}
        if origin.subject is None or not required:
            return
        met = self._registry.current.acr_met
        if not all(met(origin.amr, (one,), acr=origin.acr) for one in required):
            raise InvalidGrant("the user has not authenticated as strongly as is required here")

    def claims_to_keep(
        self, authorization: Authorization, client: Client, user_claims: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Return the user's claims that later access tokens of this authorization may have."""
        target, _ = self.find(authorization)
        names = target.claims_of_narrowed
        if client.user_claims is not None:
            names += client.user_claims.access_token_sources()
        return pick(user_claims, names) if names else {}

    def _find(self, registry: Registry, wanted: _Wanted) -> Target:
        if registry is not self._known_of:
            self._known.clear()
            self._known_of = registry
        known = self._known.get_stale(wanted)  # it has no end, and needs no clock
        if known is None:
            known = _find_target(registry, *wanted)
            self._known.put(wanted, known)
        return known


def _find_target(
    registry: Registry,
    scope: frozenset[str],
    resources: Collection[str],
    understanding: frozenset[str],
) -> Target:
    """Cut a scope to the resources asked for, or find the resources that the scope belongs to.

    A resource with `require_resource_indicator` is in the audience only where it is named, by itself or
    by the type of a detail; one that understands nothing of scope and details never is. The audience has the
    URLs of those that are asked for by URL, and the names of all others.
    """
    apis = registry.apis_by_identifier
    nameable: set[str] = set()
    scope = registry.cut_scope(scope, resources)
    if resources:
        named = registry.api_names(resources)
        names = {name for name in named if apis[name].scopes & scope}
    else:
        known = registry.resources_by_scope
        nameable = {each.name for value in scope for each in known.get(value, ())}
        names = {name for name in nameable if not apis[name].require_resource_indicator}
    by_url = {apis[one].name: one for one in resources if one in apis and one == apis[one].url}
    audience = {by_url.get(name, name) for name in names | understanding}
    algorithms = {apis[name].access_token_signing_algorithm for name in audience}
    sorted_audience = tuple(sorted(audience))
    return Target(
        tuple(sorted(scope)),
        algorithms.pop() if len(algorithms) == 1 else None,
        tuple(sorted(api_claims(registry, scope, audience))),
        tuple(sorted(api_claims(registry, scope, audience | nameable))),
        required_contexts(registry, scope, audience),
        format_scope(scope),
        sorted_audience if len(audience) > 1 else next(iter(audience), None),
        not registry.admin_scopes.isdisjoint(scope),
    )


def required_contexts(
    registry: Registry, scope: frozenset[str], resources: Iterable[str]
) -> frozenset[str]:
    """Return the authentication contexts that users must meet for these scope values and APIs (required_acr)."""
    named: list[ApiScope | ApiResource] = [
        *(registry.api_scopes[one] for one in scope if one in registry.api_scopes),
        *(
            registry.apis_by_identifier[one]
            for one in resources
            if one in registry.apis_by_identifier
        ),
    ]
    return frozenset([one.required_acr for one in named if one.required_acr is not None])
