"""Finds the audience of an access token, and the scope that is left of it there (RFC 8707)."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from service.caching import BoundedCache
from service.model.registry import LiveRegistry, Registry
from service.tokens.claims import api_claims

MAX_TARGETS = 1000
"""Targets that are remembered; there are as many as kinds of requests, not as requests."""


class Target(msgspec.Struct, frozen=True):
    """The APIs that an access token is for, and the scope values that they understand."""

    scope: frozenset[str]
    audience: tuple[str, ...]
    """Names of API resources, sorted; empty where the token is for this service alone."""
    signing_algorithm: str | None
    """The one that all these resources ask for, if they agree on one."""
    user_claims: tuple[str, ...]
    """The names of the user's claims that these resources and this scope ask for."""

    @property
    def aud(self) -> str | list[str] | None:
        """The `aud` claim: a string for one API (RFC 7519 §4.1.3), None for this service alone."""
        if len(self.audience) > 1:
            return list(self.audience)
        return self.audience[0] if self.audience else None


class Targets:
    """Finds targets, and remembers those of the registry in force: few are asked for again and again."""

    def __init__(self, registry: LiveRegistry) -> None:
        self._registry = registry
        self._known: BoundedCache[tuple[frozenset[str], tuple[str, ...]], Target]
        self._known = BoundedCache(MAX_TARGETS)
        self._known_of: Registry | None = None

    def find(self, scope: frozenset[str], resources: tuple[str, ...]) -> Target:
        """Return the target of a token with this scope, for these resources if there are any."""
        registry = self._registry.current
        if registry is not self._known_of:
            self._known.clear()
            self._known_of = registry
        known = self._known.get((scope, resources))
        if known is None:
            known = _find_target(registry, scope, resources)
            self._known.put((scope, resources), known)
        return known


def _find_target(registry: Registry, scope: frozenset[str], resources: Collection[str]) -> Target:
    """Cut a scope to the resources asked for, or find the resources that the scope belongs to.

    A resource with `require_resource_indicator` is in the audience only where it is named; one
    that understands nothing of the scope never is.
    """
    apis = registry.api_resources
    if resources:
        scope -= frozenset(registry.api_scopes) - scopes_of(registry, resources)
        audience = {name for name in resources if name in apis and apis[name].scopes & scope}
    else:
        audience = {
            resource.name
            for value in scope
            for resource in registry.resources_by_scope.get(value, ())
            if not resource.require_resource_indicator
        }
    algorithms = {apis[name].access_token_signing_algorithm for name in audience}
    return Target(
        scope,
        tuple(sorted(audience)),
        algorithms.pop() if len(algorithms) == 1 else None,
        tuple(sorted(api_claims(registry, scope, audience))),
    )


def scopes_of(registry: Registry, resources: Collection[str]) -> frozenset[str]:
    """Every scope value that one of these API resources understands."""
    known = (registry.api_resources[name] for name in resources if name in registry.api_resources)
    return frozenset(value for resource in known for value in resource.scopes)
