"""Builds the registry of the domain model from the file; equal names are copied."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from service.config.rules.supported import unsupported_protection
from service.config.schema.client import ClientEntry, SecretEntry
from service.config.schema.file import ApiResourceEntry, ConfigurationFile, ScopeEntry
from service.model.catalogue import Catalogue
from service.model.client import Client, Permissions, Secret, client_mark
from service.model.registry import (
    AuthenticationContext,
    ExtensionGrantRegistration,
    IdentityProvider,
    Registry,
    Tenant,
)
from service.model.resources import ApiResource, ApiScope, IdentityResource
from service.model.user import User
from service.protocol.authorization_request import RESPONSE_TYPES
from service.protocol.redirect_uri import origin_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


Entity = TypeVar("Entity", bound="DataclassInstance")

_OPERATORS_OWN = "allow_insecure_redirect_uris"
_METADATA = tuple(
    ClientEntry.model_fields.keys() - {field.name for field in fields(Client)} - {_OPERATORS_OWN}
)
"""The metadata that only a few clients have; the Client keeps them by name."""
DELEGATION = ExtensionGrantRegistration(
    handler="service.grants.delegation:DelegationGrant", timeout=10, options={"source_scopes": []}
)
IDENTITY_RESOURCES: Mapping[str, tuple[str, ...]] = {
    "openid": ("sub",),
    "profile": (
        *("name", "family_name", "given_name", "middle_name", "nickname", "preferred_username"),
        *("profile", "picture", "website", "gender", "birthdate", "zoneinfo", "locale"),
        "updated_at",
    ),
    "email": ("email", "email_verified"),
    "address": ("address",),
    "phone": ("phone_number", "phone_number_verified"),
}
"""The scope values of OIDC Core §5.4 with their claims."""


def build_registry(file: ConfigurationFile, catalogue: Catalogue, *, generation: str) -> Registry:
    """Build the registry of a file, which a reload replaces as a whole."""
    resources = {entry.name: _api_resource(entry) for entry in file.api_resources}
    clients = {entry.client_id: client_of(entry, resources, catalogue) for entry in file.clients}
    return Registry(
        clients=clients,
        api_resources=resources,
        api_scopes=_api_scopes(file, resources.values()),
        identity_resources=_identity_resources(file),
        identity_providers={
            entry.name: _copy(
                IdentityProvider, entry, display_name=entry.display_name or entry.name
            )
            for entry in file.identity_providers
        },
        tenants={
            entry.name: _copy(Tenant, entry, display_name=entry.display_name or entry.name)
            for entry in file.tenants
        },
        authentication_contexts=tuple(
            _copy(AuthenticationContext, entry) for entry in file.authentication_contexts
        ),
        extension_grants=_extension_grants(file),
        users=tuple(_copy(User, entry) for entry in file.users.list),
        user_store=None if file.users.source == "file" else file.users.source,
        resources_by_scope=_resources_by_scope(resources.values()),
        clients_by_mark={
            client_mark(client.client_id): client
            for client in clients.values()
            if client.enabled and (client.login_uri or client.client_uri)
        },
        permissions=_permissions(clients.values()),
        longest_token=max(map(longest_token, file.clients), default=0),
        generation=generation,
    )


def _permissions(clients: Iterable[Client]) -> Mapping[str, Permissions]:
    """Return the permissions of enabled clients; the ids are copied, so that they are near each other in memory."""
    shared: dict[Permissions, Permissions] = {}
    enabled = [(client.client_id, client.permissions) for client in clients if client.enabled]
    return {
        client_id.encode().decode(): shared.setdefault(permissions, permissions)
        for client_id, permissions in enabled
    }


def longest_token(client: ClientEntry) -> int:
    """Return the longest lifetime of a signed token for this client."""
    return max(client.access_token_lifetime, client.identity_token_lifetime)


def _copy(entity: type[Entity], entry: BaseModel, **derived: object) -> Entity:
    """Return the entity with the values of equally named keys, and with those derived."""
    make: Callable[..., Entity] = entity
    given = vars(entry)
    return make(**{name: given[name] for name in _shared(entity, type(entry))} | derived)


@cache
def _shared(entity: type[DataclassInstance], entry: type[BaseModel]) -> frozenset[str]:
    return frozenset(field.name for field in fields(entity)) & entry.model_fields.keys()


def client_of(
    entry: ClientEntry, resources: Mapping[str, ApiResource], catalogue: Catalogue
) -> Client:
    """Return the client of an entry; it may be one of these API resources itself."""
    own_resource = entry.client_id if entry.client_id in resources else None
    origins = (origin for uri in entry.redirect_uris if (origin := origin_of(uri)) is not None)
    return _copy(
        Client,
        entry,
        client_secrets=_secrets(entry.client_secrets),
        allowed_response_types=response_types(entry),
        api_resource=entry.api_resource or own_resource,
        allowed_cors_origins=tuple(dict.fromkeys((*entry.allowed_cors_origins, *origins))),
        metadata={name: value for name in _METADATA if (value := getattr(entry, name)) is not None},
        dynamically_registered=False,
        unsupported_feature=unsupported_protection(entry, catalogue),
    )


def _secrets(entries: Iterable[SecretEntry]) -> tuple[Secret, ...]:
    return tuple(
        [
            _copy(
                Secret,
                entry,
                sha256=entry.sha256 or hashlib.sha256((entry.value or "").encode()).digest(),
            )
            for entry in entries
        ]
    )


def response_types(entry: ClientEntry) -> frozenset[str]:
    """Return the response types that the client lists, or else all that its grant types imply (RFC 7591 §2.1)."""
    if entry.allowed_response_types is not None:
        return entry.allowed_response_types
    implied = implied_response_types(entry)
    if entry.allow_access_tokens_via_browser:
        return implied
    return frozenset(name for name in implied if "token" not in name.split())


def implied_response_types(entry: ClientEntry) -> frozenset[str]:
    """Return the response types that the client's grant types need (RFC 7591 §2.1)."""
    grant_types = entry.allowed_grant_types
    return _implied("authorization_code" in grant_types, "implicit" in grant_types)


@cache
def _implied(code: bool, implicit: bool) -> frozenset[str]:
    return frozenset(
        known.name
        for known in RESPONSE_TYPES
        if (code or not known.code) and (implicit or not known.from_front_channel)
    )


def _api_resource(entry: ApiResourceEntry) -> ApiResource:
    scopes = frozenset({entry.name}) if entry.scopes is None else entry.scopes
    return _copy(ApiResource, entry, secrets=_secrets(entry.secrets), scopes=scopes)


def _api_scopes(
    file: ConfigurationFile, resources: Iterable[ApiResource]
) -> Mapping[str, ApiScope]:
    described = {
        entry.name: _copy(ApiScope, entry, secrets=_secrets(entry.secrets))
        for entry in file.api_scopes
    }
    names = sorted({name for resource in resources for name in resource.scopes})
    return {name: _copy(ApiScope, ScopeEntry(name=name)) for name in names} | described


def _identity_resources(file: ConfigurationFile) -> Mapping[str, IdentityResource]:
    """Return those that are built in and those of the file; one without claims of its own keeps the built-in ones."""
    builtin = {
        name: _copy(IdentityResource, ScopeEntry(name=name, user_claims=claims))
        for name, claims in IDENTITY_RESOURCES.items()
    }
    for entry in file.identity_resources:
        claims = entry.user_claims
        if "user_claims" not in entry.model_fields_set:
            claims = IDENTITY_RESOURCES.get(entry.name, ())
        builtin[entry.name] = _copy(IdentityResource, entry, user_claims=claims)
    return builtin


def _extension_grants(file: ConfigurationFile) -> tuple[ExtensionGrantRegistration, ...]:
    """Return the handlers in the order of the file; delegation need not be listed."""
    listed = tuple(_copy(ExtensionGrantRegistration, entry) for entry in file.extension_grants)
    is_listed = any(grant.handler == DELEGATION.handler for grant in listed)
    return listed if is_listed else (*listed, DELEGATION)


def _resources_by_scope(resources: Iterable[ApiResource]) -> Mapping[str, tuple[ApiResource, ...]]:
    by_scope: dict[str, tuple[ApiResource, ...]] = {}
    for resource in resources:
        for name in resource.scopes:
            by_scope[name] = (*by_scope.get(name, ()), resource)
    return by_scope
