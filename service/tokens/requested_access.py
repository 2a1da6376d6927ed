"""Decides what a token request gets access to: its scope, API resources and authorization_details (RFC 6749 §3.3, RFC 8707 §2, RFC 9396 §5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from service.model.authorization import Authorization
from service.model.client import Client
from service.model.registry import Registry
from service.protocol.authorization_details import (
    PARAMETER,
    Detail,
    narrow_details,
    parse_details,
)
from service.protocol.errors import (
    InvalidAuthorizationDetails,
    InvalidScope,
    InvalidTarget,
    RefusedValue,
)
from service.protocol.params import Params
from service.protocol.scope import OFFLINE_ACCESS, gives_access, parse_scope
from service.tokens.granting import ContinuedGrant, Grant, ScopeRule, TokenRequest

if TYPE_CHECKING:
    from service.store.verbs import Command
    from service.tokens.liveness import SingleUse
    from service.tokens.refresh_token import MintedRefreshToken

CLIENT_CREDENTIALS = "client_credentials"

Access = tuple[frozenset[str], tuple[str, ...], tuple[Detail, ...]]
"""A scope, API resources, and authorization_details."""

_JUDGED_LATER = (ScopeRule.OF_AUTHORIZATION, ScopeRule.OF_GRANT)


def requested_access(params: Params, client: Client, registry: Registry, grant: Grant) -> Access:
    """Return what is asked for, without the API scopes that none of the API resources asked for understands.

    Where the authorization, an assertion or the grant decides, only what needs neither is checked here: an unknown API
    resource is InvalidTarget in any case.
    """
    details = requested_details(params, client, registry)
    if details and not grant.takes_authorization_details:
        raise InvalidAuthorizationDetails("this grant_type takes no authorization_details")
    rule = grant.scope_rule
    scope = requested_scope(params, client, registry, rule, details)
    if scope and rule not in _JUDGED_LATER and params.get("grant_type") != CLIENT_CREDENTIALS:
        refuse_admin_scope(scope, registry)
    asked = params.every("resource")
    if not asked or rule is ScopeRule.OF_GRANT:
        return scope, (), details
    resources = registry.spell(asked)
    check_known(registry, resources, details)
    if rule in (ScopeRule.OF_AUTHORIZATION, ScopeRule.OF_ASSERTION):
        return scope, resources, details
    check_understood(registry, resources, scope, details)
    return registry.cut_scope(scope, resources), resources, details


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
        return scope | client.added_scopes if rule is ScopeRule.DEFAULTED else scope
    if rule in _JUDGED_LATER:
        return frozenset()
    if rule is ScopeRule.REQUIRED:
        raise InvalidScope("scope is missing")
    if details:
        return frozenset()
    scope = client.allowed_scopes & frozenset(registry.api_scopes) - registry.admin_scopes
    if rule is ScopeRule.DEFAULTED:
        require_scope(scope)
    return scope


def require_scope(scope: frozenset[str]) -> None:
    """Raise InvalidScope if a request without scope has none by default either (RFC 6749 §3.3)."""
    if not scope:
        raise InvalidScope("scope is missing, and the client has no API scope by default")


def require_access(scope: frozenset[str], details: Collection[Detail]) -> None:
    """Raise InvalidScope unless there is anything that a token would be for (RFC 6749 §3.3)."""
    if not gives_access(scope, details):
        raise InvalidScope("scope holds nothing to give access to")


def check_allowed(scope: frozenset[str], client: Client, registry: Registry) -> None:
    """Refuse a scope value that is unknown, or not in the client's registration."""
    identity, of_apis = registry.identity_resources, registry.api_scopes
    for value in scope:
        if value == OFFLINE_ACCESS:
            is_allowed = client.allow_offline_access
            message = "offline_access is not allowed for this client"
        else:
            is_known = value in identity or value in of_apis
            is_allowed = is_known and value in client.allowed_scopes
            message = "scope holds a value that is unknown or not allowed for this client"
        if not is_allowed:
            refused = RefusedValue("scope", value, client.client_id)
            raise InvalidScope(message, refused=refused)


def refuse_admin_scope(scope: frozenset[str], registry: Registry) -> None:
    """Raise InvalidScope for a scope value of the admin API, where the request is for no token that may have one."""
    for value in scope & registry.admin_scopes:
        message = "scope holds a value of the admin API, for which there are only codes and client_credentials"
        raise InvalidScope(message, refused=RefusedValue("scope", value))


def check_known(
    registry: Registry, resources: Collection[str], details: Collection[Detail]
) -> None:
    """Refuse API resources that are unknown, and details that none of these API resources takes."""
    for name in resources:
        if name not in registry.apis_by_identifier:
            message = "resource names no API resource of this service"
            raise InvalidTarget(message, refused=RefusedValue("resource", name))
    named = registry.api_names(resources)
    for at, detail in enumerate(details if resources else ()):
        if registry.find_api_of(detail) not in named:
            message = f"{PARAMETER}[{at}] has a type that none of the resources asked for takes"
            refused = RefusedValue(PARAMETER, str(detail["type"]))
            raise InvalidAuthorizationDetails(message, refused=refused)


def check_understood(
    registry: Registry,
    resources: Collection[str],
    scope: frozenset[str],
    details: Collection[Detail],
) -> None:
    """Refuse an API resource that understands nothing of scope and details, or is gone (RFC 8707 §2)."""
    for name in resources:
        api = registry.apis_by_identifier.get(name)
        if api is None or not (api.scopes & scope or registry.details_for(details, (api.name,))):
            message = "an API resource that was asked for is gone"
            if api is not None:
                message = f"the API resource {api.name} has none of the requested scope"
            raise InvalidTarget(message, refused=RefusedValue("resource", name))


def requested_details(params: Params, client: Client, registry: Registry) -> tuple[Detail, ...]:
    """Return the objects asked for; InvalidAuthorizationDetails if one is not what the client may ask for."""
    text = params.get(PARAMETER)
    return () if text is None else check_details(parse_details(text), client, registry)


def check_details(
    details: tuple[Detail, ...], client: Client, registry: Registry
) -> tuple[Detail, ...]:
    """Return the objects; InvalidAuthorizationDetails if one is not what the client may ask for (RFC 9396 §5)."""
    for at, detail in enumerate(details):
        name = str(detail["type"])
        known = registry.authorization_details_types.get(name)
        if known is None or name not in (client.authorization_details_types or ()):
            message = f"{PARAMETER}[{at}] has a type that is unknown or not allowed for this client"
            refused = RefusedValue(PARAMETER, name, client.client_id)
            raise InvalidAuthorizationDetails(message, refused=refused)
        if (fault := known.find_fault(detail)) is not None:
            message = f"{PARAMETER}[{at}] does not fit the schema of its type: see {fault}"
            raise InvalidAuthorizationDetails(message, refused=RefusedValue(PARAMETER, name))
    return details


def continue_grant(
    authorization: Authorization,
    request: TokenRequest,
    registry: Registry,
    *,
    single_use: SingleUse | None,
    scope: frozenset[str] | None = None,
    issue_id_token: bool = True,
    nonce: str | None = None,
    refresh_token: MintedRefreshToken | None = None,
    session_use: Sequence[Command] = (),
    user_claims: Mapping[str, object] | None = None,
) -> ContinuedGrant:
    """Grant what is still allowed of an authorization, or less where the request asks for less; its whole scope by default."""
    details = narrow_details(authorization.authorization_details, request.authorization_details)
    scope = authorization.scope if scope is None else scope
    resources = _narrow_resources(registry, authorization, request.resources, scope, details)
    require_access(registry.cut_scope(scope, resources), details)
    if request.cnf is not None:
        authorization = replace(authorization, cnf=request.cnf)
    return ContinuedGrant(
        authorization=authorization,
        scope=scope,
        resources=resources,
        authorization_details=details,
        issue_id_token=issue_id_token,
        single_use=single_use,
        nonce=nonce,
        refresh_token=refresh_token,
        session_use=tuple(session_use),
        user_claims=user_claims,
    )


def _narrow_resources(
    registry: Registry,
    authorization: Authorization,
    asked: tuple[str, ...],
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
        check_understood(registry, asked, scope, details)
        return asked
    if not granted:
        return ()
    left = tuple([one for one in registry.spell(granted) if one in registry.apis_by_identifier])
    if not left:
        raise InvalidTarget("the API resources that were granted are gone")
    return left
