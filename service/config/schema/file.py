"""The whole of config.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from service.config.schema.client import ClientEntry
from service.config.schema.people import (
    AuthenticationContextEntry,
    IdentityProviderEntry,
    Session,
    TenantEntry,
    Ui,
    Users,
)
from service.config.schema.registration import Registration
from service.config.schema.resources import ApiResourceEntry, ApiScopeEntry, ScopeEntry
from service.config.schema.section import Section
from service.config.schema.server import Limits, Outgoing, Server, Store
from service.config.schema.signing import Signing
from service.config.schema.types import Many, PluginName, Timeout, WebUrl


class ExtensionGrantEntry(Section):
    """A handler of a further grant type (RFC 6749 §4.5)."""

    handler: PluginName
    """The handler's import path, or its name in the entry point group token_service.grants."""
    timeout: Timeout = 10
    """How long it may take; then the request fails closed."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """Handed to it when it is made."""


class ConfigurationFile(Section):
    """The service's one configuration file."""

    issuer: WebUrl
    """The issuer, and the base of all URLs; https except on loopback, no query, no fragment."""
    include: Many[Annotated[str, Field(min_length=1, max_length=1000)]] = ()
    """Further files that hold clients and other lists of the registry, which are put behind those here: files, folders
    (all their *.yaml and *.yml) and patterns such as clients.d/*.yaml, relative to this file."""
    server: Server = Server()
    """How the service listens."""
    store: Store = Store()
    """Where everything lives that must outlast a request."""
    signing: Signing = Signing()
    """Which keys sign, where they come from and how they rotate."""
    session: Session = Session()
    """How long a person stays signed in."""
    limits: Limits = Limits()
    """What slows down guessing and flooding."""
    api_resources: Many[ApiResourceEntry] = ()
    """The APIs that are being protected."""
    api_scopes: Many[ApiScopeEntry] = ()
    """Scope values of APIs, where they need more than their name."""
    identity_resources: Many[ScopeEntry] = ()
    """Scope values that stand for claims of the user: openid, profile, email, address, phone are built in; add or
    override here."""
    clients: Many[ClientEntry] = ()
    """The clients."""
    extension_grants: Many[ExtensionGrantEntry] = ()
    """Handlers of further grant types; `delegation` is built in."""
    identity_providers: Many[IdentityProviderEntry] = ()
    """OpenID providers that users may come from."""
    tenants: Many[TenantEntry] = ()
    """What acr_values=tenant:<name> may pass to the login page; empty: any name of 1 to 100 letters, digits, ".", "_", "-"."""
    authentication_contexts: Many[AuthenticationContextEntry] = (
        AuthenticationContextEntry(acr="password", amr=frozenset({"pwd"})),
    )
    """Which acr a login meets, weakest first."""
    pairwise_salt: Annotated[
        Annotated[str, Field(min_length=16)] | None,
        Field(repr=False),
    ] = None
    """What makes pairwise subject identifiers hard to guess; never change it."""
    outgoing: Outgoing = Outgoing()
    """Requests that the service makes."""
    registration: Registration = Registration()
    """How clients may register themselves (RFC 7591, RFC 7592)."""
    users: Users = Users()
    """Where users come from."""
    ui: Ui = Ui()
    """How the pages look."""
