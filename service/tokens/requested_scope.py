"""Checks the scope and the resources of a token request (RFC 6749 §3.3, RFC 8707)."""

from __future__ import annotations

from collections.abc import Collection

from service.model.authorization import Authorization
from service.model.client import Client
from service.model.registry import Registry
from service.protocol.errors import InvalidScope, InvalidTarget, RefusedValue
from service.protocol.params import Params
from service.protocol.scope import OFFLINE_ACCESS, parse_scope
from service.tokens.audience import scopes_of
from service.tokens.granting import ScopeRule


def requested_scope(
    params: Params, client: Client, registry: Registry, rule: ScopeRule
) -> frozenset[str]:
    """Return the scope asked for, or the one that the rule gives for a request without scope."""
    asked = params.get("scope")
    if asked is not None:
        scope = parse_scope(asked)
        if rule is not ScopeRule.OF_AUTHORIZATION:
            check_allowed(scope, client, registry)
        return scope
    if rule is ScopeRule.REQUIRED:
        raise InvalidScope("scope is missing")
    if rule is ScopeRule.OF_AUTHORIZATION:
        return frozenset()
    scope = client.allowed_scopes & frozenset(registry.api_scopes)
    resources = params.every("resource")
    if resources:
        scope &= scopes_of(registry, resources)
    if not scope:
        raise InvalidScope("scope is missing, and the client has no API scope by default")
    return scope


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


def requested_resources(
    params: Params, registry: Registry, scope: frozenset[str]
) -> tuple[str, ...]:
    """Return the API resources asked for; InvalidTarget if one is unknown or does not fit the scope."""
    asked = params.every("resource")
    if not asked:
        return ()
    resources = tuple(dict.fromkeys(asked))
    check_resources(registry, resources, scope or None)
    return resources


def check_resources(
    registry: Registry, resources: Collection[str], scope: frozenset[str] | None
) -> None:
    """Refuse a resource that is unknown or understands none of the scope, if any (RFC 8707 §2)."""
    for name in resources:
        if name not in registry.api_resources:
            message = "resource names no API resource of this service"
            raise InvalidTarget(message, refused=RefusedValue("resource", name))
    for name in resources:
        if scope is not None and registry.api_resources[name].scopes.isdisjoint(scope):
            message = "resource understands none of the scope values asked for"
            raise InvalidTarget(message, refused=RefusedValue("resource", name))


def narrowed_resources(
    registry: Registry, authorization: Authorization, asked: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the granted resources that are asked for and still registered (RFC 8707 §2.2).

    Never none of several: no resource at all would mean every one that the scope belongs to.
    """
    granted = authorization.resources
    if asked:
        if granted and not set(asked) <= set(granted):
            raise InvalidTarget("resource is not one that was granted")
        check_resources(registry, asked, authorization.scope)
        return asked
    left = tuple([name for name in granted if name in registry.api_resources])
    if granted and not left:
        raise InvalidTarget("the API resources that were granted are gone")
    return left
