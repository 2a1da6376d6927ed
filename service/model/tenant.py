"""Tenants: organisations that share this service, each with its own users, providers and look."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from service.model import types
from service.protocol.typed_text import normalize_domain

CLAIM = "tenant"
"""The claim that names a user's tenant."""

LinkName = Literal["help", "privacy", "imprint", "forgot_password", "change_password", "register"]


def _email_domain(value: str) -> str:
    domain = normalize_domain(value)
    if domain is None:
        raise types.expected("the domain of e-mail addresses, such as acme.example")
    return domain


class Tenant(msgspec.Struct, frozen=True, kw_only=True):
    """An organisation with users, identity providers and a look of its own; acr_values=tenant:<name> chooses it."""

    name: types.ShortName
    """The tenant's name in acr_values, in `tenants` of clients, and in the `tenant` claim of its users."""
    display_name: types.Texts | None = None
    """The name that the pages show; null: the name."""
    logo: types.Logo | None = None
    """The tenant's logo on the pages: a picture file, or a URL; null: logo_uri."""
    logo_uri: types.WebUrl | None = None
    """The URL of the logo, where `logo` is not given."""
    accent: types.Text | None = None
    """The colour of buttons and links on the tenant's pages; null: that of `ui`."""
    background: types.Text | None = None
    """The colour behind the tenant's pages; null: that of `ui`."""
    links: dict[LinkName, types.WebUrl] = msgspec.field(default_factory=dict)
    """The tenant's own pages, in place of those of `ui.links`."""
    providers: tuple[types.Text, ...] = ()
    """The identity providers of the tenant, the only ones that its login page offers. Their users belong to the tenant; where
    several tenants list a provider, its `tenant` claim decides, else the page that the user signed in at."""
    domains: tuple[Annotated[str, types.After(_email_domain)], ...] = ()
    """The domains of its users' e-mail addresses, such as acme.example. Where a request names no tenant, a login_hint of such a
    domain shows this tenant's login page."""
