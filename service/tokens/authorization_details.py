"""Checks the authorization_details of a request, and selects those of a token (RFC 9396 §5, §7, §9)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from service.model.client import Client, Permissions
from service.model.registry import Registry
from service.protocol.authorization_details import PARAMETER, Detail, parse_details
from service.protocol.errors import InvalidAuthorizationDetails, RefusedValue
from service.protocol.params import Params


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
        if not known.is_valid(detail):
            message = f"{PARAMETER}[{at}] does not fit the schema of its type"
            raise InvalidAuthorizationDetails(message, refused=RefusedValue(PARAMETER, name))
    return details


def check_takers(
    registry: Registry, details: Collection[Detail], resources: Collection[str]
) -> None:
    """Refuse details that no token of the request would carry: those of another API than the resources asked for."""
    named = registry.api_names(resources)
    for at, detail in enumerate(details if resources else ()):
        if find_resource(registry, detail) not in named:
            message = f"{PARAMETER}[{at}] has a type that none of the resources asked for takes"
            refused = RefusedValue(PARAMETER, str(detail["type"]))
            raise InvalidAuthorizationDetails(message, refused=refused)


def permitted_details(details: Iterable[Detail], permissions: Permissions) -> tuple[Detail, ...]:
    """Return those of types that the client may still ask for."""
    types = permissions.authorization_details_types
    return tuple([detail for detail in details if detail["type"] in types])


def find_resource(registry: Registry, detail: Detail) -> str | None:
    """Return the API resource that understands an object; None if the type is gone."""
    known = registry.authorization_details_types.get(str(detail["type"]))
    return known.api_resource if known else None


def resources_of(registry: Registry, details: Iterable[Detail]) -> frozenset[str]:
    """Return every API resource that understands one of the objects."""
    found = {find_resource(registry, detail) for detail in details}
    return frozenset([name for name in registry.api_resources if name in found])


def details_for(
    registry: Registry, details: Iterable[Detail], resources: Collection[str]
) -> tuple[Detail, ...]:
    """Return the objects that one of these API resources understands."""
    return tuple([each for each in details if find_resource(registry, each) in resources])
