"""What the operator registered, as one immutable whole that a reload replaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from service.model.client import Client
from service.model.resources import ApiResource, ApiScope, IdentityResource, Scope
from service.model.user import User


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityProvider:
    """An OpenID provider that users may come from; `claims` maps its names to ours."""

    name: str
    display_name: str
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    scopes: tuple[str, ...]
    claims: Mapping[str, str]
    logo_uri: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """What `acr_values=tenant:<name>` may pass to the login page."""

    name: str
    display_name: str
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
    enabled_clients: frozenset[str]
    """Derived: the ids of the clients that may do anything, in one small piece of memory.

    Every introspection asks about another one of perhaps ten thousand clients, and each that lies
    somewhere else in memory costs some percent of the request.
    """
    generation: str
    """A short hash of the content, to see whether replicas agree."""

    def scope(self, name: str) -> Scope | None:
        """The API scope or identity resource of that name."""
        return self.api_scopes.get(name) or self.identity_resources.get(name)

    def acr_met(self, amr: tuple[str, ...], requested: tuple[str, ...] = ()) -> str | None:
        """The first requested authentication context that is met, else the strongest (OIDC Core §2)."""
        met = [known.acr for known in self.authentication_contexts if known.amr <= set(amr)]
        if requested:
            return next((acr for acr in requested if acr in met), None)
        return met[-1] if met else None


class LiveRegistry(Protocol):
    """The registry in force now; a reload swaps it whole."""

    @property
    def current(self) -> Registry:
        """The registry that the next request is judged by."""
        ...
