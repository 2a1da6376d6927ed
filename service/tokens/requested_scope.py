"""What a token request may ask for: scope and resources, before the grant is looked at (RFC 6749 §3.3)."""

from __future__ import annotations

from service.model.client import Client
from service.model.registry import Registry
from service.protocol.errors import InvalidScope
from service.protocol.params import Params
from service.protocol.refused_value import RefusedValue
from service.protocol.scope import OFFLINE_ACCESS, parse_scope
from service.tokens.audience import check_known, check_resources, scopes_of
from service.tokens.granting import ScopeRule


def requested_scope(
    params: Params, client: Client, registry: Registry, rule: ScopeRule
) -> frozenset[str]:
    """The scope asked for, or what the rule makes of its absence; InvalidScope otherwise."""
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
    return _defaulted(params, client, registry)


def requested_resources(
    params: Params, registry: Registry, scope: frozenset[str]
) -> tuple[str, ...]:
    """The API resources asked for (RFC 8707 §2.2); InvalidTarget where one does not fit."""
    asked = params.every("resource")
    if not asked:
        return ()
    resources = tuple(dict.fromkeys(asked))
    check_known(registry, resources)
    if scope:
        check_resources(registry, resources, scope)
    return resources


def check_allowed(scope: frozenset[str], client: Client, registry: Registry) -> None:
    """Refuse a scope value that is unknown, or not in the client's registration."""
    for value in scope:
        if value == OFFLINE_ACCESS:
            if not client.allow_offline_access:
                raise InvalidScope(
                    "offline_access is not allowed for this client",
                    refused=RefusedValue("scope", value, client.client_id),
                )
        elif value not in client.allowed_scopes or registry.scope(value) is None:
            raise InvalidScope(
                "scope holds a value that is unknown or not allowed for this client",
                refused=RefusedValue("scope", value, client.client_id),
            )


def _defaulted(params: Params, client: Client, registry: Registry) -> frozenset[str]:
    """All API scopes that the client may have, at the resources it names, if it names any."""
    scope = client.allowed_scopes & frozenset(registry.api_scopes)
    resources = params.every("resource")
    if resources:
        scope &= scopes_of(registry, resources)
    if not scope:
        raise InvalidScope("scope is missing, and the client has no API scope by default")
    return scope
