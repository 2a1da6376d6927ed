"""What is being protected: APIs, their scopes, and the identity data of a user."""

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
    """A scope value with what the consent page says of it (RFC 6749 §3.3)."""

    name: str
    display_name: str | LocalText | None
    description: str | LocalText | None
    required: bool
    emphasize: bool
    show_in_discovery: bool
    user_claims: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiScope(Scope):
    """A scope value that an API resource understands; with a secret it may introspect for itself alone."""

    secrets: tuple[Secret, ...] = ()

    @property
    def scopes(self) -> frozenset[str]:
        """Itself, as an API resource has its scope values."""
        return frozenset({self.name})


Api = ApiResource | ApiScope
"""What introspects by a name and a secret of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityResource(Scope):
    """A scope value that stands for claims of the user (OIDC Core §5.4)."""
