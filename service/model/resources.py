"""The protected resources: APIs, their scopes, and the identity data of a user."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.client import Secret
from service.model.local_text import LocalText


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiResource:
    """A resource server, which is an audience of access tokens (RFC 8707 §2) and may introspect (RFC 7662 §2.1)."""

    name: str
    display_name: str | LocalText | None
    secrets: tuple[Secret, ...]
    scopes: frozenset[str]
    user_claims: tuple[str, ...]
    access_token_signing_algorithm: str | None
    require_resource_indicator: bool
    introspection_signed_response: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A scope value with its texts for the consent page (RFC 6749 §3.3)."""

    name: str
    display_name: str | LocalText | None = None
    description: str | LocalText | None = None
    required: bool = False
    emphasize: bool = False
    show_in_discovery: bool = False
    user_claims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiScope(Scope):
    """A scope value of API resources; with a secret it may introspect for itself alone."""

    secrets: tuple[Secret, ...] = ()

    @property
    def scopes(self) -> frozenset[str]:
        """Itself, so that it can stand for an API resource."""
        return frozenset({self.name})


Api = ApiResource | ApiScope
"""A caller that introspects with a name and a secret of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityResource(Scope):
    """A scope value that stands for claims of the user (OIDC Core §5.4)."""
