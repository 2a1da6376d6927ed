"""ID-JAGs that others have issued: which access they give here (draft-ietf-oauth-identity-assertion-authz-grant §4.4.1).

The audience, the lifetime and the single use are checked as for every assertion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from service.identity.assertions import ForeignAssertion
from service.keys.jose import JwtRefused, VerifiedClaims
from service.model.registry import Registry
from service.protocol.authorization_details import PARAMETER, Detail, read_details
from service.protocol.errors import InvalidScope, InvalidTarget, RefusedValue
from service.protocol.scope import OFFLINE_ACCESS, split_scope
from service.protocol.token_types import ID_JAG_PROFILE
from service.tokens.granting import TokenRequest
from service.tokens.requested_access import Access, check_details, check_understood


def metadata(registry: Registry) -> Mapping[str, object]:
    """Return the profile that is supported if any issuer's ID-JAGs are accepted; it does not say whose (§7, §8.4)."""
    accepted = any(issuer.id_jag for issuer in registry.trusted_issuers.values())
    return {"authorization_grant_profiles_supported": [ID_JAG_PROFILE]} if accepted else {}


def find_access(assertion: ForeignAssertion, request: TokenRequest, registry: Registry) -> Access:
    """Return what the ID-JAG grants of the request.

    Raise JwtRefused, InvalidScope, InvalidTarget or InvalidAuthorizationDetails.
    """
    claims, client = assertion.claims, request.client
    if not client.require_client_secret:
        raise JwtRefused("an ID-JAG is for clients that authenticate")  # §8.1
    if claims.get("client_id") != client.client_id:
        raise JwtRefused("its client_id is that of another client")
    resources = _find_resources(claims, request, registry)
    details: tuple[Detail, ...] = ()
    if PARAMETER in claims:
        details = check_details(read_details(claims[PARAMETER]), client, registry)
    check_understood(registry, request.resources, request.scope, details)
    scope = _find_scope(claims, request, registry)
    if not (scope or details):
        raise InvalidScope("the ID-JAG grants no scope that the client may have")
    if resources:
        names = ", ".join(sorted(registry.api_names(resources)))
        scope = registry.cut_scope(scope, resources)
        resources = tuple([one for one in resources if _understands(registry, one, scope, details)])
        details = registry.details_for(details, registry.api_names(resources))
        if not resources:
            message = (
                f"the API resources {names} of the ID-JAG have none of the scope that it grants"
            )
            raise InvalidTarget(message)
    return scope, resources, details


def _understands(
    registry: Registry, resource: str, scope: frozenset[str], details: tuple[Detail, ...]
) -> bool:
    api = registry.apis_by_identifier[resource]
    return bool(api.scopes & scope or registry.details_for(details, (api.name,)))


def _find_scope(
    claims: VerifiedClaims, request: TokenRequest, registry: Registry
) -> frozenset[str]:
    """Return the granted scope that the client may have, or the part of it that is asked for (RFC 6749 §3.3)."""
    granted = claims.get("scope")
    if granted is None and PARAMETER not in claims:
        return request.scope - {OFFLINE_ACCESS}
    if granted is not None and not isinstance(granted, str):
        raise JwtRefused("its scope is no text")
    values = split_scope(granted or "") - {OFFLINE_ACCESS}
    if request.params.get("scope") is not None:
        beyond = request.scope - values - {OFFLINE_ACCESS}
        if beyond:
            refused = RefusedValue("scope", min(beyond))
            raise InvalidScope("scope holds a value that is not in the ID-JAG", refused=refused)
        values &= request.scope
    known = [value for value in values if registry.scope(value) is not None]
    return request.client.allowed_scopes.intersection(known)


def _find_resources(
    claims: VerifiedClaims, request: TokenRequest, registry: Registry
) -> tuple[str, ...]:
    """Return the granted API resources that exist here, or those of them that are asked for (RFC 8707 §2)."""
    claim = claims.get("resource")
    if claim is None:
        return request.resources
    named = cast("list[object]", claim) if isinstance(claim, list) else [claim]
    if not all(isinstance(name, str) for name in named):
        raise JwtRefused("its resource is neither a text nor a list of texts")
    spelled = registry.spell(map(str, named))
    granted = [name for name in spelled if name in registry.apis_by_identifier]
    for name in request.resources:
        if registry.api_names((name,)).isdisjoint(registry.api_names(granted)):
            refused = RefusedValue("resource", name)
            raise InvalidTarget("resource is not one of the ID-JAG", refused=refused)
    if not granted:
        raise InvalidTarget("the ID-JAG is for no API resource of this service")
    return request.resources or tuple(granted)
