"""The registry of the operator, as one immutable value that a reload replaces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from service.model.client import Client, Permissions
from service.model.local_text import LocalText
from service.model.resources import ApiResource, ApiScope, IdentityResource, Scope
from service.model.user import LOCAL, User

_TENANT_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityProvider:
    """An OpenID provider that users may come from; `claims` maps its names to ours."""

    name: str
    display_name: str | LocalText
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    scopes: tuple[str, ...]
    claims: Mapping[str, str]
    trust_acr: bool
    logo_uri: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A tenant that `acr_values=tenant:<name>` names to the login page."""

    name: str
    display_name: str | LocalText
    logo_uri: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationContext:
    """An acr value and the authentication methods that meet it (OIDC Core §2, `acr`)."""

    acr: str
    amr: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionGrantRegistration:
    """A handler of an extension grant, with its timeout in seconds and its options."""

    handler: str
    timeout: float
    options: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Clients, resources, scopes, providers, tenants and users, each by name."""

    clients: Mapping[str, Client]
    api_resources: Mapping[str, ApiResource]
    api_scopes: Mapping[str, ApiScope]
    """Every scope value of every API resource, also without an entry of its own in the file."""
    identity_resources: Mapping[str, IdentityResource]
    identity_providers: Mapping[str, IdentityProvider]
    tenants: Mapping[str, Tenant]
    authentication_contexts: tuple[AuthenticationContext, ...]
    extension_grants: tuple[ExtensionGrantRegistration, ...]
    users: tuple[User, ...]
    user_store: str | None
    """The import path of the operator's own `UserStore`, or None where `users` holds them."""
    resources_by_scope: Mapping[str, tuple[ApiResource, ...]]
    """Derived: the API resources of each scope value."""
    longest_token: int
    """Derived: the longest lifetime in seconds of a signed token of any client."""
    clients_by_mark: Mapping[str, Client]
    """Derived: the clients to which an expired sign-in can lead back, by their marks."""
    permissions: Mapping[str, Permissions]
    """Derived: the permissions of each enabled client, by its id, close together in memory.

    Each introspection reads those of another one of perhaps ten thousand clients, and a miss of
    the processor's cache costs some percent of the request.
    """
    generation: str
    """A short hash of the content; replicas with the same registry have the same."""

    def scope(self, name: str) -> Scope | None:
        """Return the API scope or identity resource of that name."""
        return self.api_scopes.get(name) or self.identity_resources.get(name)

    def find_tenant(self, name: str) -> Tenant | None:
        """Return the tenant of that name; any valid name is one if no tenants are configured."""
        if self.tenants or not _TENANT_NAME.fullmatch(name):
            return self.tenants.get(name)
        return Tenant(name=name, display_name=name, logo_uri=None)

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
        met = [
            known.acr
            for known in self.authentication_contexts
            if known.acr == acr or known.amr <= set(amr)
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
