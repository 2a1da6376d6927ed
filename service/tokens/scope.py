"""Checks the scope and the resources of a request, and finds the audience of a token with them (RFC 6749 §3.3, RFC 8707)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from service.caching import BoundedCache
from service.model.authorization import Authorization
from service.model.client import Client
from service.model.registry import ApiResource, ApiScope, LiveRegistry, Registry
from service.protocol.authorization_details import Detail
from service.protocol.errors import InvalidGrant, InvalidScope, InvalidTarget, RefusedValue
from service.protocol.params import Params
from service.protocol.scope import OFFLINE_ACCESS, format_scope, parse_scope
from service.tokens.authorization_details import check_takers, details_for, resources_of
from service.tokens.claims import api_claims, pick
from service.tokens.granting import ScopeRule
from service.tokens.permitted import require_access

MAX_TARGETS = 1000
"""Targets that are remembered; there are as many as kinds of requests, not as requests."""

_JUDGED_LATER = (ScopeRule.OF_AUTHORIZATION, ScopeRule.OF_GRANT)


def requested_scope(
    params: Params,
    client: Client,
    registry: Registry,
    rule: ScopeRule,
    details: Collection[Detail],
) -> frozenset[str]:
    """Return the scope asked for, or the one that the rule gives for a request without scope.

    A request for authorization_details alone is one for no scope (RFC 9396 §3.1).
    """
    asked = params.get("scope")
    if asked is not None:
        scope = parse_scope(asked)
        if rule not in _JUDGED_LATER:
            require_access(scope, details)
            check_allowed(scope, client, registry)
        return scope
    if rule in _JUDGED_LATER:
        return frozenset()
    if rule is ScopeRule.REQUIRED:
        raise InvalidScope("scope is missing")
    if details:
        return frozenset()
    scope = client.allowed_scopes & frozenset(registry.api_scopes)
    if rule is ScopeRule.DEFAULTED:
        require_scope(scope)
    return scope


def require_scope(scope: frozenset[str]) -> None:
    """Raise InvalidScope if a request without scope has none by default either (RFC 6749 §3.3)."""
    if not scope:
        raise InvalidScope("scope is missing, and the client has no API scope by default")


def check_allowed(scope: frozenset[str], client: Client, registry: Registry) -> None:
    """Refuse a scope value that is unknown, or not in the client's registration."""
    for value in scope:
        if value == OFFLINE_ACCESS:
            is_allowed = client.allow_offline_access
            message = "offline_access is not allowed for this client"
        else:
            is_allowed = value in client.allowed_scopes and registry.scope(value) is not None
            message = "scope holds a value that is unknown or not allowed for this client"
        if not is_allowed:
            refused = RefusedValue("scope", value, client.client_id)
            raise InvalidScope(message, refused=refused)


def requested_access(
    params: Params,
    client: Client,
    registry: Registry,
    rule: ScopeRule,
    details: Collection[Detail],
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the scope asked for, as far as the API resources asked for understand it, and these (RFC 8707 §2.2).

    InvalidTarget if one is unknown or understands nothing that is asked for. Where the authorization or an assertion
    decides, all but the first check comes with it.
    """
    scope = requested_scope(params, client, registry, rule, details)
    asked = params.every("resource")
    if not asked or rule is ScopeRule.OF_GRANT:
        return scope, ()
    resources = registry.spell(asked)
    if rule in {ScopeRule.OF_AUTHORIZATION, ScopeRule.OF_ASSERTION}:
        _check_known(registry, resources)
        check_takers(registry, details, resources)
        return scope, resources
    check_asked(registry, resources, scope, details)
    return cut_scope(registry, scope, resources), resources


def check_asked(
    registry: Registry,
    resources: Collection[str],
    scope: frozenset[str],
    details: Collection[Detail],
) -> None:
    """Refuse a request of which a part would be for nobody: a resource, or an object of `authorization_details`."""
    _check_known(registry, resources)
    check_takers(registry, details, resources)
    check_resources(registry, resources, scope, details)


def check_resources(
    registry: Registry,
    resources: Collection[str],
    scope: frozenset[str],
    details: Collection[Detail],
) -> None:
    """Refuse a resource that is unknown, or understands nothing of scope and details (RFC 8707 §2)."""
    _check_known(registry, resources)
    for name in resources:
        api = registry.apis_by_identifier[name]
        if api.scopes.isdisjoint(scope) and not details_for(registry, details, (api.name,)):
            message = "resource understands nothing of what is asked for"
            raise InvalidTarget(message, refused=RefusedValue("resource", name))


def _check_known(registry: Registry, resources: Collection[str]) -> None:
    for name in resources:
        if name not in registry.apis_by_identifier:
            message = "resource names no API resource of this service"
            raise InvalidTarget(message, refused=RefusedValue("resource", name))


def narrowed_resources(
    registry: Registry,
    authorization: Authorization,
    asked: tuple[str, ...],
    *,
    scope: frozenset[str],
    details: Collection[Detail],
) -> tuple[str, ...]:
    """Return the granted resources that are asked for and still registered (RFC 8707 §2.2).

    Never none of several: no resource at all would mean every one that the scope belongs to.
    """
    granted = authorization.resources
    if asked:
        if granted and not registry.api_names(asked) <= registry.api_names(granted):
            raise InvalidTarget("resource is not one that was granted")
        check_resources(registry, asked, scope, details)
        return asked
    if not granted:
        return ()
    left = tuple([one for one in registry.spell(granted) if one in registry.apis_by_identifier])
    if not left:
        raise InvalidTarget("the API resources that were granted are gone")
    return left


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
            understanding = resources_of(registry, details)
            if resources:
                understanding &= registry.api_names(resources)
            details = details_for(registry, details, understanding)
        return self._find(registry, (scope, resources, understanding)), details

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
        self, authorization: Authorization, user_claims: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Return the user's claims that later access tokens of this authorization may have."""
        target, _ = self.find(authorization)
        names = target.claims_of_narrowed
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
    scope = cut_scope(registry, scope, resources)
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


def cut_scope(
    registry: Registry, scope: frozenset[str], resources: Collection[str]
) -> frozenset[str]:
    """Return the scope without the API scopes that none of these resources understands; all of it without resources."""
    if not resources:
        return scope
    apis, api_scopes = registry.apis_by_identifier, registry.api_scopes
    understood = frozenset[str]().union(*[apis[one].scopes for one in resources if one in apis])
    return frozenset([one for one in scope if one in understood or one not in api_scopes])
