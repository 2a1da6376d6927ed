"""The resources that tokens give access to: APIs, claims of users, and types of authorization_details."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import ClassVar, Literal

import msgspec

from service.model import types
from service.model.secret import Secret
from service.protocol.authorization_details import Detail

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


class CheckSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The answers of `/connect/check` about the API."""

    cache: types.Duration = 0
    """How long a proxy may use an answer again for the same token, URL and check. A revocation counts that much later. 0: never."""
    token: Literal["none", "jwt", "txn_token"] = "none"
    """The token that the API gets in place of the caller's. jwt: a JWT for this API alone in `Authorization`, which lives for a minute
    at most; txn_token: a transaction token in `Txn-Token`; none: neither. Such answers are never used again."""
    trust_domain: types.ClientId | None = None
    """The trust domain of the transaction tokens; null: the only one of trust_domains."""


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """The requirements of a request to the API; proxies that append the original path name it (`/connect/check/API/NAME/…`)."""

    scope: frozenset[types.ScopeValue] = frozenset()
    """The scope values that the access token must all have."""
    acr: types.Text | None = None
    """The authentication context that the user must have met (RFC 9470); null: any."""
    max_age: types.Duration | None = None
    """How long ago the user may have authenticated at most; null: any time."""


class ApiResourceEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An API that accepts access tokens of this service."""

    name: types.ClientId
    """The audience (`aud`) of access tokens for the API, and its user name at the introspection endpoint."""
    url: types.WebUrl | None = None
    """The URL of the API, if clients may name it by that, too (`resource`, RFC 8707), compared as RFC 3986 §6.2 says. Tokens that a
    client asks for by the URL have it as audience. With a URL, metadata say how to get tokens for the API (RFC 9728)."""
    display_name: types.Texts | None = None
    """The name that users see."""
    secrets: tuple[Secret, ...] = ()
    """The passwords of the API at the introspection endpoint; each of them is accepted."""
    scopes: frozenset[types.ScopeValue] | None = None
    """The scope values of the API; null: one, named like the API."""
    user_claims: tuple[types.Text, ...] = ()
    """Claims of the user that are added to access tokens for the API."""
    access_token_signing_algorithm: types.SigningAlgorithm | None = None
    """The algorithm that signs access tokens for the API; null: the first of signing.algorithms."""
    require_resource_indicator: bool = False
    """true: only requests that name the API by `resource` (RFC 8707) get tokens for it."""
    required_acr: types.Text | None = None
    """The authentication context (acr) that users must meet for tokens for the API, whatever the client asks for; null: none."""
    check: CheckSettings = msgspec.field(default_factory=CheckSettings)
    """The answers to proxies that ask about requests to the API."""
    checks: dict[types.ShortName, Demand] = msgspec.field(default_factory=dict)
    """The requirements of requests to the API, by a name that a proxy asks with."""
    introspection_signed_response: bool = False
    """true: introspection responses to the API are signed JWTs (RFC 9701)."""
    introspection_encrypted_response_alg: types.PublicKeyAlgorithm | None = None
    """The algorithm that encrypts the content key of introspection responses to a key of the API; null: they are not encrypted.
    With one, each response is a signed JWT that is encrypted (RFC 9701 §6)."""
    introspection_encrypted_response_enc: types.ContentEncryption = "A128CBC-HS256"
    """The algorithm that encrypts the content of introspection responses (RFC 9701 §6)."""
    jwks: dict[str, object] | None = None
    """The API's public keys (JWK set, RFC 7517) for that encryption. Give this or jwks_uri."""
    jwks_uri: types.WebUrl | None = None
    """The URL at which the API publishes its public keys. Give this or jwks."""


class ApiResource(ApiResourceEntry, frozen=True, kw_only=True):
    """A resource server, which is an audience of access tokens (RFC 8707 §2) and may introspect (RFC 7662 §2.1)."""

    scopes: frozenset[str] = frozenset()
    introspection_signing_alg: str | None = None
    """The algorithm of introspection responses to the API; None: the service's first."""
    dynamically_registered: ClassVar[bool] = False
    """The operator names the URL of its keys, which may therefore lead anywhere."""

    def is_in(self, audience: Collection[str]) -> bool:
        """Return whether a token with this audience is for the API."""
        return self.name in audience or self.url in audience


def api_scope_names(apis: Iterable[ApiResourceEntry]) -> set[str]:
    """Return every scope value that one of the APIs understands."""
    return {name for api in apis for name in ((api.name,) if api.scopes is None else api.scopes)}


class Scope(msgspec.Struct, frozen=True, kw_only=True):
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
    user_claims: tuple[types.Text, ...] = ()
    """The claims of the user that it gives access to."""


class ApiScope(Scope, frozen=True, kw_only=True):
    """A scope value of an API, and what the consent page says of it."""

    required_acr: types.Text | None = None
    """The authentication context (acr) that users must meet for tokens with this scope, whatever the client asks for; null: none."""
    secrets: tuple[Secret, ...] = ()
    """Passwords for the introspection endpoint, with the scope value as user name; only tokens with this scope are shown."""
    introspection_signing_alg: ClassVar[None] = None
    introspection_encrypted_response_alg: ClassVar[None] = None

    @property
    def scopes(self) -> frozenset[str]:
        """Itself, so that it can stand for an API resource."""
        return frozenset({self.name})


Api = ApiResource | ApiScope
"""A caller that introspects with a name and a secret of its own."""


class IdentityResource(Scope, frozen=True, kw_only=True):
    """A scope value that gives access to claims of the user (OIDC Core §5.4)."""

    access_token_claims: tuple[types.Text, ...] = ()
    """Claims of the user that are added to access tokens with it, whichever API they are for."""


class AuthorizationDetailsTypeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A type of authorization_details (RFC 9396 §2)."""

    type: types.Text
    """The value of `type` in authorization_details."""
    api_resource: types.Text
    """The name of the API resource whose access tokens and introspection responses carry objects of this type."""
    schema: types.JsonSchema | None = None
    """The JSON Schema (2020-12) that the objects have to fit: here, or a JSON file. It refers to no other document, and its
    patterns have no lookaround and no backreferences."""
    summary: types.Texts | None = None
    """The sentence of the consent page about an object, with its members in braces: Pay {instructedAmount.amount} to {creditorName}.
    null: the name of the type, and all members."""


class AuthorizationDetailsType(AuthorizationDetailsTypeEntry, frozen=True, kw_only=True):
    """A type of authorization_details whose schema has been read."""

    find_fault: Callable[[Detail], str | None]
    """Derived: returns the place of the rule in the schema that an object breaks; None for one that fits."""
