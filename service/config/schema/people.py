"""Who may sign in, how and for how long."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from service.config.schema.section import Section
from service.config.schema.types import (
    FilePath,
    Lifetime,
    Logo,
    Many,
    ScopeValue,
    Several,
    Text,
    Texts,
    WebUrl,
    expected,
)
from service.model.user import MAX_USERNAME


def _user_source(value: str) -> str:
    if value != "file" and ":" not in value:
        raise expected("file, or the import path of a UserStore such as my_package.users:MyUsers")
    return value


class Session(Section):
    """How long a person stays signed in."""

    lifetime: Lifetime = 10 * 3600
    """The session ends when it has not been used that long."""
    max_lifetime: Lifetime = 30 * 86400
    """The absolute end. With "remember me" cookie and session last this long, else until the browser closes or
    `lifetime` passes unused."""
    cookie_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")] = "sid"
    """The cookie's name; __Host- prefixed on https."""
    cookie_same_site: Literal["lax", "none"] = "lax"
    """`none` lets other sites' frames renew silently; on https only."""


class UserEntry(Section):
    """A person who can sign in."""

    sub: Annotated[str, Field(min_length=1, max_length=255)]
    """The subject identifier, which never changes."""
    username: Annotated[str, Field(min_length=1, max_length=MAX_USERNAME)]
    """The name to sign in by, compared without regard to case."""
    password: Annotated[str | None, Field(repr=False)] = None
    """The Argon2 hash of the password; `python -m service hash-password` makes it. null: no sign-in by password."""
    enabled: bool = True
    """Whether the person may sign in, and tokens of the person are active."""
    claims: dict[str, JsonValue] = Field(default_factory=dict)
    """What is known of the person, by the names of OpenID Connect Core §5.1 or of your own."""


class Users(Section):
    """Where users come from."""

    source: Annotated[str, AfterValidator(_user_source)] = "file"
    """file: the list below; or an import path of a UserStore."""
    list: Many[UserEntry] = ()
    """The users of source: file."""


class IdentityProviderEntry(Section):
    """An OpenID provider that users may come from; acr_values=idp:<name> goes straight there."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    """What acr_values, client restrictions and the `idp` claim call it."""
    display_name: Texts | None = None
    """The text of its link on the login page; null: the name."""
    issuer: WebUrl
    """Its issuer; its metadata stands below /.well-known/openid-configuration."""
    client_id: str
    """Who this service is there."""
    client_secret: Annotated[str, Field(repr=False)] = ""
    """The secret of this service there; empty: a public client."""
    scopes: Many[ScopeValue] = ("openid", "profile", "email")
    """What is asked for."""
    claims: dict[str, Text] = Field(default_factory=dict)
    """Theirs: ours, such as {mail: email}; standard claims of the same name come by themselves."""
    trust_acr: bool = False
    """Whether its `acr` and `amr` count as ours; otherwise they satisfy no authentication context."""
    logo_uri: WebUrl | None = None
    """A picture for the link."""


class TenantEntry(Section):
    """What acr_values=tenant:<name> may pass to the login page."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    """What acr_values calls it."""
    display_name: Texts | None = None
    """What the login page shows; null: the name."""
    logo_uri: WebUrl | None = None
    """A picture for the login page."""


class AuthenticationContextEntry(Section):
    """Which acr a login meets."""

    acr: Annotated[str, Field(pattern=r"^[^\s]{1,200}$")]
    """The value in acr_values and in the `acr` claim."""
    amr: Annotated[Several[Text], Field(min_length=1)]
    """The authentication methods (RFC 8176) that must all have been done."""


class Ui(Section):
    """How the pages look."""

    title: Texts = "Sign in"
    """The title of the pages; here and wherever a person reads a text, {en: …, de: …} may stand instead."""
    templates: FilePath | None = None
    """A folder whose files override the built-in templates."""
    locales: Annotated[Many[Text], Field(min_length=1)] = ("en",)
    """The languages on offer. Each has messages, built in or in `locales/` of `templates`, or those of its language: de-AT
    speaks the words of de."""
    default_locale: Text = "en"
    """The language of a person who asks for none of them."""
    logo: Logo | None = None
    """Your logo at the top of the pages: a picture file, or a URL; null: the built-in mark."""
    accent: Text | None = None
    """The colour of buttons and links, in any notation of CSS; `check` warns where it is hard to read. null: green."""
    links: dict[Literal["help", "privacy", "imprint", "forgot_password", "register"], WebUrl] = (
        Field(default_factory=dict)
    )
    """Pages of yours that the built-in pages link to: help, privacy and imprint at the foot of every page, forgot_password
    and register on the login page; forgot_password is where `/.well-known/change-password` leads, too."""
