"""The registry of the operator, as one immutable value that a reload replaces."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from typing import ClassVar, Literal, Protocol

import msgspec

from service.model import types
from service.model.admin import Admin
from service.model.authentication_context import AuthenticationContext, Mfa
from service.model.client import Client, Permissions
from service.model.grant_types import ExtensionGrantRegistration
from service.model.identity_provider import IdentityProvider
from service.model.secret import Secret
from service.model.tenant import Tenancy, Tenant
from service.model.token_exchange import ExchangeRule, TrustDomain
from service.model.trusted_issuer import TrustedIssuer
from service.model.user import LOCAL, User
from service.model.workload import WorkloadIssuer, find_template
from service.protocol.authorization_details import Detail
from service.protocol.uris import normalize_url

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


Issuer = TrustedIssuer | WorkloadIssuer
"""Another server whose JWTs are accepted."""

KeyOwner = Client | ApiResource | Issuer
"""A party with public keys of its own."""

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
