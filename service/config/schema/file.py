"""The whole of config.yaml, and its sections on APIs, users and pages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from service.config.schema.client import ClientEntry, SecretEntry
from service.config.schema.server import Limits, Outgoing, Server, Session, Signing, Store
from service.config.schema.types import (
    ClientId,
    FilePath,
    Lifetime,
    Logo,
    Many,
    PluginName,
    ScopeValue,
    Section,
    Several,
    Sha256,
    SigningAlgorithm,
    Text,
    Texts,
    Timeout,
    WebUrl,
    expected,
)
from service.model.user import MAX_USERNAME

ShortName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]


def _user_source(value: str) -> str:
    if value != "file" and ":" not in value:
        raise expected("file, or the import path of a UserStore such as my_package.users:MyUsers")
    return value


class ApiResourceEntry(Section):
    """An API that accepts access tokens of this service."""

    name: ClientId
    """The audience (`aud`) of access tokens for the API, and its user name at the introspection endpoint."""
    display_name: Texts | None = None
    """The name that users see."""
    secrets: Many[SecretEntry] = ()
    """The passwords of the API at the introspection endpoint; each of them is accepted."""
    scopes: Several[ScopeValue] | None = None
    """The scope values of the API; null: one, named like the API."""
    user_claims: Many[Text] = ()
    """Claims of the user that are added to access tokens for the API."""
    access_token_signing_algorithm: SigningAlgorithm | None = None
    """The algorithm that signs access tokens for the API; null: the first of signing.algorithms."""
    require_resource_indicator: bool = False
    """true: only requests that name the API by `resource` (RFC 8707) get tokens for it."""
    introspection_signed_response: bool = False
    """true: introspection responses to the API are signed JWTs (RFC 9701)."""


class ScopeEntry(Section):
    """A scope value, and what the consent page says of it."""

    name: ScopeValue
    """The scope value."""
    display_name: Texts | None = None
    """The headline on the consent page; null: the built-in text, or the name."""
    description: Texts | None = None
    """The sentence below the headline."""
    required: bool = False
    """true: the user cannot remove it on the consent page."""
    emphasize: bool = False
    """true: the consent page draws attention to it."""
    show_in_discovery: bool = True
    """false: it is not listed in the metadata documents."""
    user_claims: Many[Text] = ()
    """The claims of the user that it gives access to."""


class ApiScopeEntry(ScopeEntry):
    """A scope value of an API, and what the consent page says of it."""

    secrets: Many[SecretEntry] = ()
    """Passwords for the introspection endpoint, with the scope value as user name; only tokens with this scope are shown."""


class ExtensionGrantEntry(Section):
    """A handler of a further grant type (RFC 6749 §4.5)."""

    handler: PluginName
    """The handler's import path, or its name in the entry point group token_service.grants."""
    timeout: Timeout = 10
    """The longest time for one request; a request that takes longer is refused."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """The first argument of the handler's class."""


class UserEntry(Section):
    """A user who can sign in."""

    sub: Annotated[str, Field(min_length=1, max_length=255)]
    """The subject identifier, which must never change."""
    username: Annotated[str, Field(min_length=1, max_length=MAX_USERNAME)]
    """The name to sign in with; upper and lower case are the same."""
    password: Annotated[str | None, Field(repr=False)] = None
    """The Argon2 hash of the password; `python -m service hash-password` makes it. null: no sign-in by password."""
    enabled: bool = True
    """false: the user cannot sign in, and the user's tokens are inactive."""
    claims: dict[str, JsonValue] = Field(default_factory=dict)
    """Claims about the user, by the names of OpenID Connect Core §5.1 or names of your own."""


class Users(Section):
    """The users of this service itself."""

    source: Annotated[str, AfterValidator(_user_source)] = "file"
    """file: the list below; or the import path of a UserStore."""
    list: Many[UserEntry] = ()
    """The users, for source: file."""


class IdentityProviderEntry(Section):
    """An OpenID provider at which users may sign in; acr_values=idp:<name> chooses it."""

    name: ShortName
    """The provider's name in acr_values, identity_provider_restrictions and the `idp` claim."""
    display_name: Texts | None = None
    """The text of its link on the login page; null: the name."""
    issuer: WebUrl
    """The provider's issuer; its metadata are read at /.well-known/openid-configuration below it."""
    client_id: str
    """The client_id of this service at the provider."""
    client_secret: Annotated[str, Field(repr=False)] = ""
    """The client secret of this service at the provider; empty: a public client."""
    scopes: Many[ScopeValue] = ("openid", "profile", "email")
    """The scope values that this service asks the provider for."""
    claims: dict[str, Text] = Field(default_factory=dict)
    """Claims of the provider and their names here, such as {mail: email}; standard claims need not be listed."""
    trust_acr: bool = False
    """true: `acr` and `amr` of the provider are accepted like those of a sign-in here; false: they are ignored."""
    logo_uri: WebUrl | None = None
    """A picture for the link."""


class TenantEntry(Section):
    """A tenant that acr_values=tenant:<name> may pass to the login page."""

    name: ShortName
    """The tenant's name in acr_values."""
    display_name: Texts | None = None
    """The name that the login page shows; null: the name."""
    logo_uri: WebUrl | None = None
    """A picture for the login page."""


class AuthenticationContextEntry(Section):
    """An authentication context (acr) and the authentication methods that meet it."""

    acr: Annotated[str, Field(pattern=r"^[^\s]{1,200}$")]
    """The value in acr_values and in the `acr` claim."""
    amr: Annotated[Several[Text], Field(min_length=1)]
    """The authentication methods (RFC 8176) that a user must have used, all of them."""


class Registration(Section):
    """Dynamic registration of clients (RFC 7591, RFC 7592)."""

    enabled: bool = False
    """true: clients may register themselves."""
    initial_access_token_sha256: Annotated[Many[Sha256], Field(repr=False)] = ()
    """SHA-256 hashes of the tokens that allow a registration; `python -m service hash-secret` prints the hash between the
    quotes. Empty: anyone may register a client."""
    client_lifetime: Lifetime | None = None
    """How long a registered client exists; null: until it is deleted."""
    allowed_scopes: Several[ScopeValue] = frozenset()
    """The scope values that registered clients may ask for; offline_access allows them refresh tokens."""


class Ui(Section):
    """The look of the pages."""

    title: Texts = "Sign in"
    """The title of the pages. Here and for all other texts that users see, you can write {en: …, de: …}."""
    templates: FilePath | None = None
    """A folder whose files replace built-in templates."""
    locales: Annotated[Many[Text], Field(min_length=1)] = ("en",)
    """The languages that users may choose. Each needs messages: built-in ones, yours in `locales/` of `templates`, or those
    of its main language, as de for de-AT."""
    default_locale: Text = "en"
    """The language for users who ask for none of these."""
    logo: Logo | None = None
    """Your logo at the top of the pages: a picture file, or a URL; null: the built-in one."""
    accent: Text | None = None
    """The colour of buttons and links, as in CSS; `check` warns if it is hard to read. null: green."""
    links: dict[Literal["help", "privacy", "imprint", "forgot_password", "register"], WebUrl] = (
        Field(default_factory=dict)
    )
    """Pages of yours: help, privacy and imprint are linked at the foot of every page, forgot_password and register on the
    login page. `/.well-known/change-password` also leads to forgot_password."""


class ConfigurationFile(Section):
    """The service's one configuration file."""

    issuer: WebUrl
    """The URL of this service, which clients know it by and to which all paths are added; https except on loopback, without
    query and fragment."""
    include: Many[Annotated[str, Field(min_length=1, max_length=1000)]] = ()
    """Further files with clients and other lists of the registry, whose entries are added to those here: files, folders
    (all their *.yaml and *.yml) and patterns such as clients.d/*.yaml, relative to this file."""
    server: Server = Server()
    store: Store = Store()
    signing: Signing = Signing()
    session: Session = Session()
    limits: Limits = Limits()
    api_resources: Many[ApiResourceEntry] = ()
    """The APIs that accept access tokens of this service."""
    api_scopes: Many[ApiScopeEntry] = ()
    """Scope values of APIs, if there is more to say of them than their name."""
    identity_resources: Many[ScopeEntry] = ()
    """Scope values that give access to claims of the user. openid, profile, email, address and phone are built in; add others
    or change these."""
    clients: Many[ClientEntry] = ()
    """The applications that may get tokens."""
    extension_grants: Many[ExtensionGrantEntry] = ()
    """Handlers of further grant types; `delegation` is built in."""
    identity_providers: Many[IdentityProviderEntry] = ()
    """OpenID providers at which users may sign in."""
    tenants: Many[TenantEntry] = ()
    """The tenants that acr_values=tenant:<name> may pass to the login page; empty: any name of 1 to 100 letters, digits, ".",
    "_", "-"."""
    authentication_contexts: Many[AuthenticationContextEntry] = (
        AuthenticationContextEntry(acr="password", amr=frozenset({"pwd"})),
    )
    """The authentication contexts (acr) that a sign-in can meet, the weakest first."""
    pairwise_salt: Annotated[str, Field(min_length=16)] | None = Field(default=None, repr=False)
    """A secret from which pairwise subject identifiers are computed; if you change it, all of them change."""
    outgoing: Outgoing = Outgoing()
    registration: Registration = Registration()
    users: Users = Users()
    ui: Ui = Ui()
