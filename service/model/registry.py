"""What the operator registered, as one immutable whole that a reload replaces."""

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
    """What `acr_values=tenant:<name>` may pass to the login page."""

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
    """Which handler serves an extension grant, how long it may take in seconds, and its options."""

    handler: str
    timeout: float
    options: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Clients, resources, scopes, providers, tenants and users, each by name."""

    clients: Mapping[str, Client]
    api_resources: Mapping[str, ApiResource]
    api_scopes: Mapping[str, ApiScope]
    """Every scope of every API resource, also those that the file does not describe further."""
    identity_resources: Mapping[str, IdentityResource]
    identity_providers: Mapping[str, IdentityProvider]
    tenants: Mapping[str, Tenant]
    authentication_contexts: tuple[AuthenticationContext, ...]
    extension_grants: tuple[ExtensionGrantRegistration, ...]
    users: tuple[User, ...]
    user_store: str | None
    """The import path of the operator's own `UserStore`, or None where `users` holds them."""
    resources_by_scope: Mapping[str, tuple[ApiResource, ...]]
    """Derived: which API resources understand a scope value."""
    longest_token: int
    """Derived: the longest that a token which a key signs for one of the clients may live, in seconds."""
    clients_by_mark: Mapping[str, Client]
    """Derived: the clients that a person whose sign-in has expired can be sent back to, by their marks."""
    permissions: Mapping[str, Permissions]
    """Derived: what each enabled client may do, by its id, in one small piece of memory.

    Every introspection asks about another one of perhaps ten thousand clients, and each that lies
    somewhere else in memory costs some percent of the request.
    """
    generation: str
    """A short hash of the content, to see whether replicas agree."""

    def scope(self, name: str) -> Scope | None:
        """The API scope or identity resource of that name."""
        return self.api_scopes.get(name) or self.identity_resources.get(name)

    def find_tenant(self, name: str) -> Tenant | None:
        """Return the tenant of that name; where none is configured, any proper name is one."""
        if self.tenants or not _TENANT_NAME.fullmatch(name):
            return self.tenants.get(name)
        return Tenant(name=name, display_name=name, logo_uri=None)

    def trusts_methods_of(self, idp: str) -> bool:
        """Return whether the amr and acr of a sign-in there count as this service's own."""
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
        """The registry that the next request is judged by."""
        ...
