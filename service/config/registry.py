"""The registry of the domain model, made of what the file says, name by name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from service.config.rules.supported import unsupported_protection
from service.config.schema.client import ClientEntry
from service.config.schema.client_metadata import ClientMetadata
from service.config.schema.file import ConfigurationFile
from service.config.schema.resources import ApiResourceEntry, ScopeEntry, SecretEntry
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
from service.protocol.redirect_uri import origin_of
from service.protocol.response_type import RESPONSE_TYPES

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


Entity = TypeVar("Entity", bound="DataclassInstance")

_METADATA = tuple(ClientMetadata.model_fields)
DELEGATION = ExtensionGrantRegistration(
    handler="service.grants.delegation:DelegationGrant", timeout=10, options={"source_scopes": []}
)
IDENTITY_RESOURCES: Mapping[str, tuple[str, ...]] = {
    "openid": ("sub",),
    "profile": (
        "name",
        "family_name",
        "given_name",
        "middle_name",
        "nickname",
        "preferred_username",
        "profile",
        "picture",
        "website",
        "gender",
        "birthdate",
        "zoneinfo",
        "locale",
        "updated_at",
    ),
    "email": ("email", "email_verified"),
    "address": ("address",),
    "phone": ("phone_number", "phone_number_verified"),
}
"""The scope values of OIDC Core §5.4 with their claims."""


def build_registry(file: ConfigurationFile, catalogue: Catalogue, *, generation: str) -> Registry:
    """Everything that a reload replaces, as one whole."""
    resources = {entry.name: _api_resource(entry) for entry in file.api_resources}
    clients = {entry.client_id: client_of(entry, resources, catalogue) for entry in file.clients}
    return Registry(
        clients=clients,
        api_resources=resources,
        api_scopes=_api_scopes(file, resources.values()),
        identity_resources=_identity_resources(file),
        identity_providers={
            entry.name: _same(
                IdentityProvider, entry, display_name=entry.display_name or entry.name
            )
            for entry in file.identity_providers
        },
        tenants={
            entry.name: _same(Tenant, entry, display_name=entry.display_name or entry.name)
            for entry in file.tenants
        },
        authentication_contexts=tuple(
            _same(AuthenticationContext, entry) for entry in file.authentication_contexts
        ),
        extension_grants=_extension_grants(file),
        users=tuple(_same(User, entry) for entry in file.users.list),
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
    """Return what enabled clients may do; their ids are copied, so that they lie next to each other."""
    shared: dict[Permissions, Permissions] = {}
    enabled = [(client.client_id, client.permissions) for client in clients if client.enabled]
    return {
        client_id.encode().decode(): shared.setdefault(permissions, permissions)
        for client_id, permissions in enabled
    }


def longest_token(client: ClientEntry) -> int:
    """The longest that a token which a key signs for this client may live."""
    return max(client.access_token_lifetime, client.identity_token_lifetime)


def _same(entity: type[Entity], entry: BaseModel, **derived: object) -> Entity:
    """The entity whose fields are the entry's keys, but for those derived."""
    make: Callable[..., Entity] = entity
    given = vars(entry)
    return make(**{name: given[name] for name in _shared(entity, type(entry))} | derived)


@cache
def _shared(entity: type[DataclassInstance], entry: type[BaseModel]) -> frozenset[str]:
    """The fields that are named as a key is; found once, because there may be many entries."""
    return frozenset(field.name for field in fields(entity)) & entry.model_fields.keys()


def client_of(
    entry: ClientEntry, resources: Mapping[str, ApiResource], catalogue: Catalogue
) -> Client:
    """The client of an entry, which may be one of these API resources itself."""
    own_resource = entry.client_id if entry.client_id in resources else None
    return _same(
        Client,
        entry,
        client_secrets=_secrets(entry.client_secrets),
        allowed_response_types=response_types(entry),
        api_resource=entry.api_resource or own_resource,
        allowed_cors_origins=_cors_origins(entry),
        metadata={name: value for name in _METADATA if (value := getattr(entry, name)) is not None},
        dynamically_registered=False,
        unsupported_feature=unsupported_protection(entry, catalogue),
    )


def _secrets(entries: Iterable[SecretEntry]) -> tuple[Secret, ...]:
    return tuple([_same(Secret, entry, sha256=_sha256(entry)) for entry in entries])


def _sha256(entry: SecretEntry) -> bytes:
    return entry.sha256 or hashlib.sha256((entry.value or "").encode()).digest()


def response_types(entry: ClientEntry) -> frozenset[str]:
    """The response types that the client lists, or else all that its grant types imply (RFC 7591 §2.1)."""
    if entry.allowed_response_types is not None:
        return entry.allowed_response_types
    implied = implied_response_types(entry)
    if entry.allow_access_tokens_via_browser:
        return implied
    return frozenset(name for name in implied if "token" not in name.split())


def implied_response_types(entry: ClientEntry) -> frozenset[str]:
    """The response types that the client's grant types have a use for (RFC 7591 §2.1)."""
    grant_types = entry.allowed_grant_types
    return _implied("authorization_code" in grant_types, "implicit" in grant_types)


@cache
def _implied(code: bool, implicit: bool) -> frozenset[str]:
    return frozenset(
        known.name
        for known in RESPONSE_TYPES
        if (code or not known.code) and (implicit or not known.from_front_channel)
    )


def _cors_origins(entry: ClientEntry) -> tuple[str, ...]:
    """The origins that the client lists, and those of its redirect URIs."""
    own = (origin for uri in entry.redirect_uris if (origin := origin_of(uri)) is not None)
    return tuple(dict.fromkeys((*entry.allowed_cors_origins, *own)))


def _api_resource(entry: ApiResourceEntry) -> ApiResource:
    return _same(
        ApiResource,
        entry,
        secrets=_secrets(entry.secrets),
        scopes=frozenset({entry.name}) if entry.scopes is None else entry.scopes,
    )


def _api_scopes(
    file: ConfigurationFile, resources: Iterable[ApiResource]
) -> Mapping[str, ApiScope]:
    described = {
        entry.name: _same(ApiScope, entry, secrets=_secrets(entry.secrets))
        for entry in file.api_scopes
    }
    names = sorted({name for resource in resources for name in resource.scopes})
    return {name: _plain_scope(ApiScope, name, ()) for name in names} | described


def _identity_resources(file: ConfigurationFile) -> Mapping[str, IdentityResource]:
    builtin = {
        name: _plain_scope(IdentityResource, name, claims)
        for name, claims in IDENTITY_RESOURCES.items()
    }
    return builtin | {entry.name: _identity_resource(entry) for entry in file.identity_resources}


def _identity_resource(entry: ScopeEntry) -> IdentityResource:
    """An entry that overrides a built-in one without naming claims keeps the built-in claims."""
    if "user_claims" in entry.model_fields_set:
        return _same(IdentityResource, entry)
    return _same(IdentityResource, entry, user_claims=IDENTITY_RESOURCES.get(entry.name, ()))


def _plain_scope(kind: type[Entity], name: str, user_claims: tuple[str, ...]) -> Entity:
    return _same(kind, ScopeEntry(name=name, user_claims=user_claims))


def _extension_grants(file: ConfigurationFile) -> tuple[ExtensionGrantRegistration, ...]:
    """The registered handlers, each at its place in the file; delegation is there also where it is not mentioned."""
    listed = tuple(_same(ExtensionGrantRegistration, entry) for entry in file.extension_grants)
    if any(grant.handler == DELEGATION.handler for grant in listed):
        return listed
    return (*listed, DELEGATION)


def _resources_by_scope(resources: Iterable[ApiResource]) -> Mapping[str, tuple[ApiResource, ...]]:
    by_scope: dict[str, tuple[ApiResource, ...]] = {}
    for resource in resources:
        for name in resource.scopes:
            by_scope[name] = (*by_scope.get(name, ()), resource)
    return by_scope
