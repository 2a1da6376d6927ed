"""Which API resources a token is for, and what scope is left of it there (RFC 8707)."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from service.caching.bounded_cache import BoundedCache
from service.model.authorization import Authorization
from service.model.registry import LiveRegistry, Registry
from service.protocol.errors import InvalidTarget
from service.protocol.refused_value import RefusedValue
from service.tokens.claims import api_claims

REMEMBERED = 1000
"""Targets; there are as many as kinds of requests, not as requests."""


class Target(msgspec.Struct, frozen=True):
    """Where an access token may be used, and for what."""

    scope: frozenset[str]
    audience: tuple[str, ...]
    """Names of API resources, sorted; empty where the token is for this service alone."""
    signing_algorithm: str | None
    """The one that all these resources ask for, if they agree on one."""
    user_claims: tuple[str, ...]
    """The names of the user's claims that these resources and this scope ask for."""


class Targets:
    """Finds targets, and remembers those of the registry in force: the same few are asked for all day."""

    def __init__(self, registry: LiveRegistry) -> None:
        """Take what a reload replaces."""
        self._registry = registry
        self._known: BoundedCache[tuple[frozenset[str], tuple[str, ...]], Target]
        self._known = BoundedCache(REMEMBERED)
        self._known_of: Registry | None = None

    def of(self, scope: frozenset[str], resources: tuple[str, ...]) -> Target:
        """Where a token with this scope for these resources, or for none in particular, may be used."""
        registry = self._registry.current
        if registry is not self._known_of:
            self._known.clear()
            self._known_of = registry
        known = self._known.get((scope, resources))
        if known is None:
            known = target(registry, scope, resources)
            self._known.put((scope, resources), known)
        return known


def target(registry: Registry, scope: frozenset[str], resources: Collection[str]) -> Target:
    """Cut a scope to the resources asked for, or find the resources that the scope belongs to.

    A resource that wants to be named (`require_resource_indicator`) is an audience only where it
    is named; one that nothing of the scope is left for is none.
    """
    if resources:
        elsewhere = frozenset(registry.api_scopes) - scopes_of(registry, resources)
        known = [name for name in resources if name in registry.api_resources]
        audience = [name for name in known if scopes_of(registry, [name]) & scope]
        return _target(registry, scope - elsewhere, audience)
    owners = {
        resource.name
        for value in scope
        for resource in registry.resources_by_scope.get(value, ())
        if not resource.require_resource_indicator
    }
    return _target(registry, scope, owners)


def _target(registry: Registry, scope: frozenset[str], audience: Collection[str]) -> Target:
    asked = {registry.api_resources[name].access_token_signing_algorithm for name in audience}
    return Target(
        scope,
        tuple(sorted(audience)),
        asked.pop() if len(asked) == 1 else None,
        tuple(sorted(api_claims(registry, scope, audience))),
    )


def check_resources(registry: Registry, resources: Collection[str], scope: frozenset[str]) -> None:
    """Refuse a resource that is unknown or understands none of the scope (RFC 8707 §2)."""
    check_known(registry, resources)
    for name in resources:
        if registry.api_resources[name].scopes.isdisjoint(scope):
            raise InvalidTarget(
                "resource understands none of the scope values asked for",
                refused=RefusedValue("resource", name),
            )


def check_known(registry: Registry, resources: Collection[str]) -> None:
    """Refuse a resource that is unknown (RFC 8707 §2)."""
    for name in resources:
        if name not in registry.api_resources:
            raise InvalidTarget(
                "resource names no API resource of this service",
                refused=RefusedValue("resource", name),
            )


def narrowed_resources(
    registry: Registry, authorization: Authorization, asked: tuple[str, ...]
) -> tuple[str, ...]:
    """What a token request makes of the resources that were granted (RFC 8707 §2.2)."""
    if not asked:
        return _that_are_left(registry, authorization.resources)
    if authorization.resources and not set(asked) <= set(authorization.resources):
        raise InvalidTarget("resource is not one that was granted")
    check_resources(registry, asked, authorization.scope)
    return asked


def _that_are_left(registry: Registry, granted: tuple[str, ...]) -> tuple[str, ...]:
    """The granted resources that are still registered; never none, for none would mean all."""
    if not granted:
        return ()
    left = tuple([name for name in granted if name in registry.api_resources])
    if not left:
        raise InvalidTarget("the API resources that were granted are gone")
    return left


def scopes_of(registry: Registry, resources: Collection[str]) -> frozenset[str]:
    """Every scope value that one of these API resources understands."""
    known = (registry.api_resources[name] for name in resources if name in registry.api_resources)
    return frozenset(value for resource in known for value in resource.scopes)
