"""The registry of the operator, as one immutable value that a reload replaces."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Container, Iterable, Mapping
from typing import Protocol

import msgspec

from service.model.admin import Admin
from service.model.authentication_context import AuthenticationContext, Mfa
from service.model.client import Client, Permissions
from service.model.grant_types import ExtensionGrantRegistration
from service.model.identity_provider import IdentityProvider
from service.model.resources import (
    ApiResource,
    ApiScope,
    AuthorizationDetailsType,
    IdentityResource,
    Scope,
)
from service.model.tenant import Tenancy, Tenant
from service.model.token_exchange import ExchangeRule, TrustDomain
from service.model.trusted_issuer import TrustedIssuer
from service.model.user import LOCAL, User
from service.model.workload import WorkloadIssuer, find_template
from service.protocol.authorization_details import Detail
from service.protocol.uris import normalize_url

Issuer = TrustedIssuer | WorkloadIssuer
"""Another server whose JWTs are accepted."""

KeyOwner = Client | ApiResource | Issuer
"""A party with public keys of its own."""


class EntryLines(msgspec.Struct, frozen=True):
    """The file and line of each entry of a list, in its order; of ten thousand entries it takes 40 kB."""

    files: tuple[tuple[int, str], ...] = ()
    """Each file that holds some of them, behind the position of its first one."""
    lines: array[int] = msgspec.field(default_factory=lambda: array("I"))

    def find(self, at: int) -> str:
        """Return the file and line of the entry at this position."""
        file = next(name for first, name in reversed(self.files) if first <= at)
        return f"{file}:{self.lines[at]}"


class Registry(msgspec.Struct, frozen=True, kw_only=True):
    """Clients, resources, scopes, providers, tenants and users, each by name."""

    clients: Mapping[str, Client]
    api_resources: Mapping[str, ApiResource]
    api_scopes: Mapping[str, ApiScope]
    """Every scope value of every API resource, also without an entry of its own in the file."""
    identity_resources: Mapping[str, IdentityResource]
    identity_providers: Mapping[str, IdentityProvider]
    trusted_issuers: Mapping[str, TrustedIssuer]
    workload_issuers: Mapping[str, WorkloadIssuer]
    tenants: Mapping[str, Tenant]
    tenants_required: bool
    authentication_contexts: tuple[AuthenticationContext, ...]
    authorization_details_types: Mapping[str, AuthorizationDetailsType]
    extension_grants: tuple[ExtensionGrantRegistration, ...]
    token_exchange: tuple[ExchangeRule, ...]
    trust_domains: Mapping[str, TrustDomain]
    mfa: Mfa
    admin: Admin | None
    users: tuple[User, ...]
    client_authorities: bytes | None
    """The authorities whose certificates authenticate clients, PEM (RFC 8705 §2.1)."""
    tenancy: Tenancy
    """Derived: what decides which tenant a user belongs to."""
    apis_by_identifier: Mapping[str, ApiResource]
    """Derived: the API resources by their names, and by their URLs as they are registered and in normal form, the admin API among them."""
    resources_by_scope: Mapping[str, tuple[ApiResource, ...]]
    """Derived: the API resources of each scope value, the admin API among them."""
    demands_acr: bool
    """Derived: whether a scope value or an API demands an authentication context (required_acr)."""
    admin_scopes: frozenset[str]
    """Derived: the scope values of the admin API; none where it is off."""
    longest_token: int
    """Derived: the longest lifetime in seconds of a signed token of any client."""
    clients_by_mark: Mapping[str, Client]
    """Derived: the clients to which an expired sign-in can lead back, by their marks."""
    permissions: Mapping[str, Permissions]
    """Derived: the permissions of each enabled client, by its id, close together in memory.

    Each introspection reads those of another one of perhaps ten thousand clients, and a miss of
    the processor's cache costs some percent of the request.
    """
    lines: Mapping[str, EntryLines]
    """Where the files have the entries of `clients` and `api_resources`."""
    console_client: Client | None = None
    """Derived: the client by which the admin console signs users in; None where nobody may. No entry can name or change it."""
    generation: str
    """A short hash of the content; replicas with the same registry have the same."""

    def permissions_of(self, client: Client) -> Permissions:
        """Return the permissions of an enabled client, which dynamic registration may have made."""
        return self.permissions.get(client.client_id) or client.permissions

    def find_api(self, identifier: str) -> ApiResource | None:
        """Return the API of this name, or of this URL as RFC 3986 §6.2 compares it."""
        api = self.apis_by_identifier.get(identifier)
        if api is not None or "://" not in identifier:
            return api  # as nearly always, and to take a URL apart is slow
        return self.apis_by_identifier.get(normalize_url(identifier) or "")

    def spell(self, identifiers: Iterable[str]) -> tuple[str, ...]:
        """Return names and URLs of APIs as they are registered, each once; unknown ones stay as they are."""
        found = [(one, self.find_api(one)) for one in identifiers]
        spelled = [one if api is None or one == api.name else api.url or one for one, api in found]
        return tuple(dict.fromkeys(spelled))

    def api_names(self, identifiers: Iterable[str]) -> frozenset[str]:
        """Return the names of the API resources that these names and URLs identify, without unknown ones."""
        found = map(self.find_api, identifiers)
        return frozenset([api.name for api in found if api is not None])

    def identifies_any(self, identifiers: Iterable[str], names: Container[object]) -> bool:
        """Return whether one of these names and URLs identifies an API resource with one of these names."""
        for one in identifiers:
            api = self.find_api(one)
            if api is not None and api.name in names:
                return True
        return False

    def find_api_of(self, detail: Detail) -> str | None:
        """Return the API that understands an object of authorization_details; None if its type is gone."""
        known = self.authorization_details_types.get(str(detail["type"]))
        return known.api_resource if known else None

    def find_apis_of(self, details: Iterable[Detail]) -> frozenset[str]:
        """Return every API that understands one of the objects."""
        found = {self.find_api_of(detail) for detail in details}
        return frozenset([name for name in self.api_resources if name in found])

    def details_for(self, details: Iterable[Detail], apis: Collection[str]) -> tuple[Detail, ...]:
        """Return the objects that one of these APIs understands."""
        return tuple([each for each in details if self.find_api_of(each) in apis])

    def cut_scope(self, scope: frozenset[str], resources: Collection[str]) -> frozenset[str]:
        """Return the scope without the API scopes that none of these APIs understands; all of it without APIs (RFC 8707 §2.2)."""
        if not resources:
            return scope
        apis, api_scopes = self.apis_by_identifier, self.api_scopes
        understood = frozenset[str]().union(*[apis[one].scopes for one in resources if one in apis])
        return frozenset([one for one in scope if one in understood or one not in api_scopes])

    @property
    def grant_types(self) -> frozenset[str]:
        """The grant types that an enabled client may use."""
        enabled = (each for each in self.clients.values() if each.enabled)
        return frozenset[str]().union(*(each.allowed_grant_types for each in enabled))

    def scope(self, name: str) -> Scope | None:
        """Return the API scope or identity resource of that name."""
        return self.api_scopes.get(name) or self.identity_resources.get(name)

    def find_template(self, client_id: str) -> str | None:
        """Return the client whose settings this one has, which a rule of the operator makes; None if none does."""
        return find_template(self.workload_issuers.values(), client_id)

    @property
    def used_templates(self) -> frozenset[str]:
        """The clients whose settings those have that rules make."""
        rules = [rule for issuer in self.workload_issuers.values() for rule in issuer.rules]
        return frozenset(rule.template for rule in rules if rule.template is not None)

    def find_trusted_issuer(self, iss: object, *, id_jag: bool) -> TrustedIssuer | None:
        """Return the issuer of that name whose assertions are accepted: ID-JAGs only, or all but these."""
        found = (
            each
            for each in self.trusted_issuers.values()
            if each.issuer == iss and each.id_jag is id_jag
        )
        return next(found, None)

    def trusts_methods_of(self, idp: str) -> bool:
        """Return whether the amr and acr of that provider count as this service's own."""
        provider = self.identity_providers.get(idp)
        return idp == LOCAL or (provider is not None and provider.trust_acr)

    def acr_met(
        self, amr: tuple[str, ...], requested: tuple[str, ...] = (), *, acr: str | None = None
    ) -> str | None:
        """Return the first requested authentication context that is met, else the strongest (OIDC Core §2).

        A context is met by its methods, or by the `acr` of a trusted identity provider.
        """
        used = set(amr)
        met = [
            known.acr
            for known in self.authentication_contexts
            if known.acr == acr or known.is_met_by(used)
        ]
        if requested:
            return next((acr for acr in requested if acr in met), None)
        return met[-1] if met else None


class LiveRegistry(Protocol):
    """The registry in force now; a reload swaps it whole."""

    @property
    def current(self) -> Registry:
        """The registry for the next request."""
        ...
