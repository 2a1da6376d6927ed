"""The whole of config.yaml, and its sections on APIs, users and pages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, cast

import msgspec

from service.config.schema.server import (
    Dpop,
    Limits,
    Mtls,
    Outgoing,
    Server,
    Session,
    Signing,
)
from service.config.schema.store import Store
from service.config.schema.users import Users
from service.model import marks, resources, types
from service.model.admin import Admin
from service.model.authentication_context import AuthenticationContext, Mfa
from service.model.backchannel import Ciba
from service.model.client_entry import ClientEntry
from service.model.grant_types import ExtensionGrantRegistration
from service.model.identity_provider import IdentityProvider
from service.model.profiles import with_profile_defaults
from service.model.tenant import Tenant
from service.model.token_exchange import ExchangeRuleEntry, TrustDomain
from service.model.trusted_issuer import TrustedIssuer
from service.model.webhook import Events
from service.model.workload import WorkloadIssuer, find_template, named_apis, named_clients
from service.protocol import path_aliases

OPEN_LIFETIME = 90 * 86400
"""Seconds that a client exists which anyone may have registered, unless the configuration says otherwise."""


def _with_builtin_claims(value: object) -> object:
    """Give an identity resource that is built in and has no claims of its own the built-in ones."""
    if not isinstance(value, dict):
        return value
    entry = cast("dict[str, object]", value)
    return {"user_claims": resources.IDENTITY_RESOURCES.get(str(entry.get("name")), ()), **entry}


class Registration(marks.Confidential, frozen=True, kw_only=True):
    """Dynamic registration of clients (RFC 7591, RFC 7592)."""

    enabled: bool = False
    """true: clients may register themselves."""
    initial_access_token_sha256: Annotated[tuple[types.Sha256, ...], marks.SECRET] = ()
    """SHA-256 hashes of the tokens that allow a registration; `token-service hash-secret` prints the hash between the
    quotes. Empty: anyone may register a client, but not for CIBA."""
    client_lifetime: types.Lifetime | None = None
    """How long a registered client exists. null: until it is deleted, or 90 days where anyone may register one."""
    allowed_scopes: frozenset[types.ScopeValue] = frozenset()
    """The scope values that registered clients may ask for; offline_access allows them refresh tokens."""

    @property
    def is_open(self) -> bool:
        """Whether anyone may register a client."""
        return self.enabled and not self.initial_access_token_sha256

    @property
    def lifetime(self) -> int | None:
        """Seconds that a registered client exists; None: until it is deleted."""
        return (
            OPEN_LIFETIME if self.is_open and self.client_lifetime is None else self.client_lifetime
        )


class ClientIdMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """Clients that nobody registers: their client_id is an https URL, and behind it is a document that describes them, as MCP
    clients have it (draft-ietf-oauth-client-id-metadata-document-02)."""

    enabled: bool = False
    """true: such clients may ask users for access. The document is fetched when it is needed."""
    allowed_hosts: frozenset[types.HostAndPort] = frozenset()
    """The hosts whose documents are accepted, such as app.example.com; with a port unless it is 443. Empty: all public hosts, on
    port 443."""
    allowed_scopes: frozenset[types.ScopeValue] = frozenset()
    """The scope values that these clients may ask for; offline_access allows them refresh tokens."""
    cache: types.Lifetime = 3600
    """How long a document counts until it is fetched again, at most; less where the document's server says so, but 5 minutes."""


class Ui(msgspec.Struct, frozen=True, kw_only=True):
    """The look of the pages."""

    title: types.Texts = "Sign in"
    """The title of the pages. Here and for all other texts that users see, you can write {en: …, de: …}."""
    templates: types.FilePath | None = None
    """A folder whose files replace built-in templates."""
    locales: Annotated[tuple[types.Text, ...], msgspec.Meta(min_length=1)] = ("en",)
    """The languages that users may choose. Built in are en and those of `templates/locales/`, which `check` lists where one is
    unknown; `locales/` of `templates` may add others. A language of a country has the texts of its main language, as de-AT those of de."""
    default_locale: types.Text = "en"
    """The language for users who ask for none of these."""
    logo: types.Logo | None = None
    """Your logo at the top of the pages: a picture file, or a URL; null: the built-in one."""
    accent: types.Text | None = None
    """The colour of buttons and links, as in CSS; `check` warns if it is hard to read. null: green."""
    background: types.Text | None = None
    """The colour behind the pages, as in CSS; dark pages have a darker shade of it. `check` warns if text on it is hard to read.
    null: a light or dark grey."""
    links: dict[types.LinkName, types.WebUrl] = msgspec.field(default_factory=dict)
    """Pages of yours: help, privacy and imprint are linked at the foot of every page, forgot_password and register on the
    login page, change_password at /account/security. `/.well-known/change-password` leads to change_password, else to
    forgot_password, and `prompt=create` to register, with the URL `return_to` at which the user then signs in."""


class Settings(marks.Confidential, frozen=True, kw_only=True):
    """The settings that a reload cannot change."""

    issuer: types.WebUrl
    """The URL of this service, which clients know it by and to which all paths are added; https except on loopback, without
    query and fragment."""
    path_aliases: tuple[path_aliases.Server, ...] = ()
    """Servers that this one has replaced under the same issuer, keycloak, identityserver, hydra or dex: their paths lead to the endpoints here, so that
    clients need no new URLs, and their redirect URI at identity providers is used."""
    server: Server = Server()
    store: Store = Store()
    signing: Signing = Signing()
    session: Session = Session()
    limits: Limits = Limits()
    pairwise_salt: Annotated[Annotated[str, msgspec.Meta(min_length=16)] | None, marks.SECRET] = (
        None
    )
    """A secret from which pairwise subject identifiers are computed; if you change it, all of them change."""
    pushed_authorization_requests: bool = True
    """false: no endpoint for pushed authorization requests (PAR, RFC 9126). Some clients push wherever metadata list it, those of
    .NET among them, also where a proxy between them and this service lets only browsers through."""
    require_pushed_authorization_requests: bool = False
    """true: every client must push its authorization requests (PAR, RFC 9126)."""
    require_signed_request_object: bool = False
    """true: every client must sign its authorization requests (RFC 9101)."""
    token_expiration_members: bool = False
    """true: token responses with a refresh token say when it and the authorization expire, by `refresh_token_timeout` and
    `authorization_expires_in` (draft-ietf-oauth-refresh-token-expiration-03)."""
    dpop: Dpop = Dpop()
    mtls: Mtls = Mtls()
    ciba: Ciba = Ciba()
    events: Events = Events()
    outgoing: Outgoing = Outgoing()
    registration: Registration = Registration()
    client_id_metadata: ClientIdMetadata = ClientIdMetadata()
    users: Users = Users()
    ui: Ui = Ui()
    admin: Admin | None = None
    """The admin API and the console; null: neither. A reload changes the users allowed there, and nothing else of it."""

    @property
    def client_ca(self) -> Path | None:
        """The file with the authorities that tls_client_auth accepts."""
        return self.mtls.client_ca or (self.server.tls.client_ca if self.server.tls else None)


class ConfigurationFile(Settings, frozen=True, kw_only=True):
    """The service's one configuration file."""

    include: tuple[Annotated[str, msgspec.Meta(min_length=1, max_length=1000)], ...] = ()
    """Further files with clients and other lists of the registry, whose entries are added to those here: files, folders
    (all their *.yaml and *.yml) and patterns such as clients.d/*.yaml, relative to this file."""
    api_resources: tuple[resources.ApiResourceEntry, ...] = ()
    """The APIs that accept access tokens of this service."""
    api_scopes: tuple[resources.ApiScope, ...] = ()
    """Scope values of APIs, if there is more to say of them than their name."""
    identity_resources: tuple[
        Annotated[resources.IdentityResource, marks.Before(_with_builtin_claims)], ...
    ] = ()
    """Scope values that give access to claims of the user. openid, profile, email, address and phone are built in; add others
    or change these."""
    clients: tuple[Annotated[ClientEntry, marks.Before(with_profile_defaults)], ...] = ()
    """The applications that may get tokens."""
    extension_grants: tuple[ExtensionGrantRegistration, ...] = ()
    """Handlers of further grant types; `delegation` is built in."""
    token_exchange: tuple[ExchangeRuleEntry, ...] = ()
    """The rules by which clients exchange tokens for others (RFC 8693). Nothing is allowed that no rule allows; the first rule
    that fits by client, types of tokens, issuer and actor decides, and it alone checks scope and audience."""
    trust_domains: tuple[TrustDomain, ...] = ()
    """The trust domains whose workloads get transaction tokens by token exchange (draft-ietf-oauth-transaction-tokens-10). They
    need no rule of token_exchange."""
    identity_providers: tuple[IdentityProvider, ...] = ()
    """OpenID providers at which users may sign in."""
    trusted_issuers: tuple[TrustedIssuer, ...] = ()
    """The issuers whose JWTs are accepted as statements about users: as assertions of the JWT bearer grant (RFC 7523 §2.1), and
    as subject tokens of token exchange where a rule names the issuer."""
    workload_issuers: tuple[WorkloadIssuer, ...] = ()
    """The platforms whose workloads authenticate as clients or APIs with a token of their own, so that none has a secret: Kubernetes
    clusters, SPIFFE trust domains, CI systems."""
    tenants: tuple[Tenant, ...] = ()
    """The organisations that share this service. acr_values=tenant:<name> chooses one of them for a request. Empty: any name of 1
    to 100 letters, digits, ".", "_", "-" reaches the pages, and means nothing more."""
    tenants_required: bool = False
    """true: authorization requests have to name a tenant, unless their client has only one; false: users of all tenants may
    answer a request without one."""
    authentication_contexts: tuple[AuthenticationContext, ...] = (
        AuthenticationContext(acr="password", amr=frozenset({"pwd"})),
    )
    """The authentication contexts (acr) that a sign-in can meet, the weakest first."""
    authorization_details_types: tuple[resources.AuthorizationDetailsTypeEntry, ...] = ()
    """The types of authorization_details that clients may ask for (RFC 9396)."""
    mfa: Mfa = Mfa()
    """Second factors: who needs one, and when it is enrolled."""

    @property
    def looks(self) -> Mapping[marks.Location, Ui | Tenant]:
        """The look of pages, by the place of its section: everybody's, and those of tenants."""
        looks: dict[marks.Location, Ui | Tenant] = {("ui",): self.ui}
        for at, tenant in enumerate(self.tenants):
            looks["tenants", at] = tenant
        return looks

    def find_template(self, client_id: str) -> str | None:
        """Return the client whose settings this one has, which a rule of the operator makes; None if none does."""
        return find_template(self.workload_issuers, client_id)

    @property
    def clients_by_rule(self) -> frozenset[str]:
        """The clients whose callers are recognised by rules of the operator, so that they need no credential of their own."""
        return named_clients(self.workload_issuers)

    @property
    def apis_by_rule(self) -> frozenset[str]:
        """The APIs that are recognised so."""
        return named_apis(self.workload_issuers)
