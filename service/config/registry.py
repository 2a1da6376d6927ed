"""Builds the registry of the domain model from the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from msgspec.structs import replace

from service.config.schema.file import ConfigurationFile
from service.model.admin import READ, SCOPES, WRITE, Admin
from service.model.client import Client, Permissions, client_mark
from service.model.client_entry import ClientEntry
from service.model.grant_types import ExtensionGrantRegistration
from service.model.identity_provider import IdentityProvider
from service.model.profiles import FAPI2_ALGORITHMS
from service.model.registry import EntryLines, Registry
from service.model.resources import (
    IDENTITY_RESOURCES,
    ApiResource,
    ApiResourceEntry,
    ApiScope,
    AuthorizationDetailsType,
    IdentityResource,
)
from service.model.tenant import Tenancy, Tenant
from service.model.token_exchange import ExchangeRule, ExchangeRuleEntry
from service.protocol.authorization_request import RESPONSE_TYPES
from service.protocol.redirect_uri import origin_of
from service.protocol.scope import OPENID
from service.protocol.uris import normalize_url

Named = TypeVar("Named", IdentityProvider, Tenant)

CONSOLE_CLIENT = "admin-console"
"""The client_id of the admin console, which is nobody else's where `admin` is set."""

DELEGATION = ExtensionGrantRegistration(
    handler="service.grants.delegation:DelegationGrant", timeout=10, options={"source_scopes": []}
)


def build_registry(
    file: ConfigurationFile,
    details_types: Mapping[str, AuthorizationDetailsType],
    *,
    rule_positions: Sequence[str] = (),
    lines: Mapping[str, EntryLines] = {},
    generation: str,
) -> Registry:
    """Build the registry of a file, which a reload replaces as a whole."""
    algorithm = next((alg for alg in file.signing.algorithms if alg in FAPI2_ALGORITHMS), None)
    resources = _api_resources(file, algorithm)
    audiences = {**resources, **_admin_api(file.admin)}
    by_scope = _resources_by_scope(audiences.values())
    providers, tenants = _by_name(file.identity_providers), _by_name(file.tenants)
    scopes, clients = _api_scopes(file, by_scope), _clients(file, resources, algorithm)
    return Registry(
        clients=clients,
        api_resources=resources,
        api_scopes=scopes,
        identity_resources=_identity_resources(file),
        identity_providers=providers,
        trusted_issuers={entry.name: entry for entry in file.trusted_issuers},
        workload_issuers={entry.name: entry for entry in file.workload_issuers},
        tenants=tenants,
        tenants_required=file.tenants_required,
        tenancy=Tenancy.of(tenants, providers=providers),
        authentication_contexts=file.authentication_contexts,
        authorization_details_types=details_types,
        extension_grants=_extension_grants(file),
        token_exchange=_exchange_rules(file, rule_positions),
        trust_domains={entry.name: entry for entry in file.trust_domains},
        mfa=file.mfa,
        admin=file.admin,
        users=file.users.list,
        apis_by_identifier=_apis_by_identifier(audiences),
        resources_by_scope=by_scope,
        demands_acr=any(one.required_acr for one in scopes.values())
        or any(one.required_acr for one in audiences.values()),
        admin_scopes=frozenset() if file.admin is None else SCOPES,
        clients_by_mark=_by_mark(clients.values()),
        permissions=_permissions(clients.values()),
        client_authorities=file.client_ca.read_bytes() if file.client_ca else None,
        longest_token=_longest_token(file),
        lines=lines,
        console_client=_console_client(file),
        generation=generation,
    )


def _api_scopes(file: ConfigurationFile, names: Iterable[str]) -> Mapping[str, ApiScope]:
    """Return the scope values of APIs, also those without an entry of their own."""
    undescribed = {name: ApiScope(name=name) for name in sorted(names)}
    described = (*file.api_scopes, *_admin_scopes(file.admin))
    return undescribed | {entry.name: entry for entry in described}


def _admin_api(admin: Admin | None) -> Mapping[str, ApiResource]:
    """Return the admin API as an audience; not an API resource that introspects, delegates or is asked about at a gateway."""
    if admin is None or admin.url is None:
        return {}
    api = ApiResource(name=admin.url, url=admin.url, scopes=SCOPES, introspection_signing_alg=None)
    return {api.name: api}


def _admin_scopes(admin: Admin | None) -> tuple[ApiScope, ...]:
    if admin is None:
        return ()
    read = ApiScope(
        name=READ, display_name="Look at clients, users and sessions", show_in_discovery=False
    )
    write = ApiScope(
        name=WRITE,
        display_name="End sessions, grants and second factors of all users",
        emphasize=True,
        show_in_discovery=False,
        required_acr=admin.required_acr,
    )
    return read, write


def _identity_resources(file: ConfigurationFile) -> Mapping[str, IdentityResource]:
    builtin = {
        name: IdentityResource(name=name, user_claims=claims)
        for name, claims in IDENTITY_RESOURCES.items()
    }
    return builtin | {entry.name: entry for entry in file.identity_resources}


def _apis_by_identifier(
    resources: Mapping[str, ApiResource],
) -> Mapping[str, ApiResource]:
    with_url = [(api, api.url) for api in resources.values() if api.url]
    normal = {normalize_url(url) or url: api for api, url in with_url}
    return {**normal, **{url: api for api, url in with_url}, **resources}


def _resources_by_scope(
    resources: Iterable[ApiResource],
) -> Mapping[str, tuple[ApiResource, ...]]:
    by_scope: dict[str, tuple[ApiResource, ...]] = {}
    for resource in resources:
        for name in resource.scopes:
            by_scope[name] = (*by_scope.get(name, ()), resource)
    return by_scope


def _exchange_rules(file: ConfigurationFile, positions: Iterable[str]) -> tuple[ExchangeRule, ...]:
    rules = zip(file.token_exchange, positions, strict=True)
    return tuple([ExchangeRule(**_values(rule, position=position)) for rule, position in rules])


def _extension_grants(file: ConfigurationFile) -> tuple[ExtensionGrantRegistration, ...]:
    """Return those of the file, and delegation, which need not be listed."""
    listed = file.extension_grants
    is_listed = any(grant.handler == DELEGATION.handler for grant in listed)
    return listed if is_listed else (*listed, DELEGATION)


def _clients(
    file: ConfigurationFile,
    resources: Mapping[str, ApiResource],
    fapi2_algorithm: str | None,
) -> Mapping[str, Client]:
    return {
        entry.client_id: client_of(entry, resources, fapi2_algorithm=fapi2_algorithm)
        for entry in file.clients
    }


def _console_client(file: ConfigurationFile) -> Client | None:
    """Return the client by which the admin console signs its users in; None where `readers` and `writers` name nobody.

    It has no secret, so that nobody can redeem its codes but the console itself, in this process.
    """
    admin = file.admin
    if admin is None or admin.url is None or not (admin.readers or admin.writers):
        return None
    entry = ClientEntry(
        client_id=CONSOLE_CLIENT,
        client_name="Admin console",
        redirect_uris=(f"{admin.url.rstrip('/')}/callback",),
        allowed_grant_types=frozenset({"authorization_code"}),
        allowed_scopes=frozenset({OPENID}),
        allowed_users=(*admin.readers, *admin.writers),
        allow_access_tokens_via_browser=False,
    )
    return client_of(entry, {})


def _by_name(entries: Iterable[Named]) -> Mapping[str, Named]:
    """Return entries by their names; one without a name for people shows its own."""
    return {
        entry.name: replace(entry, display_name=entry.display_name or entry.name)
        for entry in entries
    }


def _by_mark(clients: Iterable[Client]) -> Mapping[str, Client]:
    """Return the clients that an expired sign-in can lead back to."""
    return {
        client_mark(client.client_id): client
        for client in clients
        if client.enabled
        and not client.template
        and (client.initiate_login_uri or client.client_uri)
    }


def _permissions(clients: Iterable[Client]) -> Mapping[str, Permissions]:
    """Return the permissions of enabled clients; the ids are copied, so that they are near each other in memory."""
    shared: dict[Permissions, Permissions] = {}
    enabled = [
        (client.client_id, client.permissions)
        for client in clients
        if client.enabled and not client.template
    ]
    return {
        client_id.encode().decode(): shared.setdefault(permissions, permissions)
        for client_id, permissions in enabled
    }


def _longest_token(file: ConfigurationFile) -> int:
    by_client = [longest_token(client) for client in file.clients]
    return max((*by_client, *(domain.lifetime for domain in file.trust_domains)), default=0)


def longest_token(client: ClientEntry) -> int:
    """Return the longest lifetime of a signed token for this client."""
    return max(client.access_token_lifetime, client.identity_token_lifetime)


def client_of(
    entry: ClientEntry,
    resources: Mapping[str, ApiResource],
    *,
    fapi2_algorithm: str | None = None,
) -> Client:
    """Return the client of an entry; it may be one of these API resources itself.

    `fapi2_algorithm` is the first of `signing.algorithms` that FAPI 2.0 allows.
    """
    default_alg = fapi2_algorithm if entry.follows_fapi else None
    own_resource = entry.client_id if entry.client_id in resources else None
    origins = (origin for uri in entry.redirect_uris if (origin := origin_of(uri)) is not None)
    values = _values(
        entry,
        allowed_response_types=response_types(entry),
        api_resource=entry.api_resource or own_resource,
        allowed_cors_origins=tuple(dict.fromkeys((*entry.allowed_cors_origins, *origins))),
        dynamically_registered=False,
        id_token_signed_response_alg=entry.id_token_signed_response_alg or default_alg,
        authorization_signed_response_alg=entry.authorization_signed_response_alg or default_alg,
        default_signing_alg=default_alg,
    )
    return Client(**values)


def _values(
    entry: ClientEntry | ApiResourceEntry | ExchangeRuleEntry, **derived: object
) -> dict[str, Any]:
    """Return the values of an entry, with those derived in place of its own."""
    return {name: getattr(entry, name) for name in entry.__struct_fields__} | derived


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


def _api_resources(
    file: ConfigurationFile, fapi2_algorithm: str | None
) -> Mapping[str, ApiResource]:
    """Return the API resources; an API of a FAPI 2.0 client's scope gets introspection responses that its profile allows."""
    fapi2 = [entry.allowed_scopes for entry in file.clients if entry.follows_fapi]
    fapi2_scope = frozenset[str]().union(*fapi2)
    resources: dict[str, ApiResource] = {}
    for entry in file.api_resources:
        scopes = frozenset({entry.name}) if entry.scopes is None else entry.scopes
        alg = entry.access_token_signing_algorithm or fapi2_algorithm
        signing_alg = alg if scopes & fapi2_scope else None
        values = _values(entry, scopes=scopes, introspection_signing_alg=signing_alg)
        resources[entry.name] = ApiResource(**values)
    return resources
