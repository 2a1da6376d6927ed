"""The protected resources: APIs, their scopes, and the identity data of a user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.model import types
from service.model.client_entry import Secret

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiResourceEntry(types.Section):
    """An API that accepts access tokens of this service."""

    name: types.ClientId
    """The audience (`aud`) of access tokens for the API, and its user name at the introspection endpoint."""
    display_name: types.Texts | None = None
    """The name that users see."""
    secrets: types.Many[Secret] = ()
    """The passwords of the API at the introspection endpoint; each of them is accepted."""
    scopes: types.Several[types.ScopeValue] | None = None
    """The scope values of the API; null: one, named like the API."""
    user_claims: types.Many[types.Text] = ()
    """Claims of the user that are added to access tokens for the API."""
    access_token_signing_algorithm: types.SigningAlgorithm | None = None
    """The algorithm that signs access tokens for the API; null: the first of signing.algorithms."""
    require_resource_indicator: bool = False
    """true: only requests that name the API by `resource` (RFC 8707) get tokens for it."""
    introspection_signed_response: bool = False
    """true: introspection responses to the API are signed JWTs (RFC 9701)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiResource(ApiResourceEntry):
    """A resource server, which is an audience of access tokens (RFC 8707 §2) and may introspect (RFC 7662 §2.1)."""

    scopes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope(types.Section):
    """A scope value, and what the consent page says of it."""

    name: types.ScopeValue
    """The scope value."""
    display_name: types.Texts | None = None
    """The headline on the consent page; null: the built-in text, or the name."""
    description: types.Texts | None = None
    """The sentence below the headline."""
    required: bool = False
    """true: the user cannot remove it on the consent page."""
    emphasize: bool = False
    """true: the consent page draws attention to it."""
    show_in_discovery: bool = True
    """false: it is not listed in the metadata documents."""
    user_claims: types.Many[types.Text] = ()
    """The claims of the user that it gives access to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiScope(Scope):
    """A scope value of an API, and what the consent page says of it."""

    secrets: types.Many[Secret] = ()
    """Passwords for the introspection endpoint, with the scope value as user name; only tokens with this scope are shown."""

    @property
    def scopes(self) -> frozenset[str]:
        """Itself, so that it can stand for an API resource."""
        return frozenset({self.name})


Api = ApiResource | ApiScope
"""A caller that introspects with a name and a secret of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityResource(Scope):
    """A scope value that gives access to claims of the user (OIDC Core §5.4)."""
