"""Tenants: organisations that share this service, each with its own users, providers and look."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from service.model import marks, types
from service.protocol.typed_text import find_domain, normalize_domain

CLAIM = "tenant"
"""The claim that names a user's tenant."""
_ANY_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


def _email_domain(value: str) -> str:
    domain = normalize_domain(value)
    if domain is None:
        raise marks.expected("the domain of e-mail addresses, such as acme.example")
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
    links: dict[types.LinkName, types.WebUrl] = msgspec.field(default_factory=dict)
    """The tenant's own pages, in place of those of `ui.links`."""
    providers: tuple[types.Text, ...] = ()
    """The identity providers of the tenant, the only ones that its login page offers. Their users belong to the tenant; where
    several tenants list a provider, its `tenant` claim decides, else the page that the user signed in at."""
    domains: tuple[Annotated[str, marks.After(_email_domain)], ...] = ()
    """The domains of its users' e-mail addresses, such as acme.example. Where a request names no tenant, a login_hint of such a
    domain shows this tenant's login page."""


class Tenancy(msgspec.Struct, frozen=True, kw_only=True):
    """Decides which tenant a user belongs to; the only place that does."""

    tenants: Mapping[str, Tenant]
    providers: Container[str | None]
    """The names of all identity providers."""
    by_provider: Mapping[str, frozenset[str]]
    """The tenants that list each identity provider."""
    logos: Mapping[str, bytes]
    """The content of the tenants' logos that are files."""

    @classmethod
    def of(cls, tenants: Mapping[str, Tenant], *, providers: Container[str | None]) -> Tenancy:
        """Return what decides among these; the files of their logos are read now."""
        by_provider: dict[str, frozenset[str]] = {}
        for tenant in tenants.values():
            for provider in tenant.providers:
                owners = by_provider.get(provider, frozenset())
                by_provider[provider] = owners | {tenant.name}
        logos = {
            name: tenant.logo.read_bytes()
            for name, tenant in tenants.items()
            if isinstance(tenant.logo, Path)
        }
        return cls(tenants=tenants, providers=providers, by_provider=by_provider, logos=logos)

    def find(self, name: str) -> Tenant | None:
        """Return the tenant of that name; any valid name is one if no tenants are configured."""
        if self.tenants or not _ANY_NAME.fullmatch(name):
            return self.tenants.get(name)
        return Tenant(name=name, display_name=name)

    def find_by_address(self, address: str, accepted: Collection[str]) -> Tenant | None:
        """Return the tenant of an e-mail address's domain, whether or not anybody has the address; one of those accepted, if there are any."""
        domain = find_domain(address)
        owners = (each for each in self.tenants.values() if domain in each.domains)
        return next((each for each in owners if not accepted or each.name in accepted), None)

    def find_name(self, idp: str | None, claims: Mapping[str, object]) -> str | None:
        """Return the tenant that a user with these claims belongs to; None for one of no tenant.

        No claim of an identity provider leads to a tenant that does not list it.
        """
        claimed = claims.get(CLAIM)
        if idp not in self.providers:
            return claimed if isinstance(claimed, str) and claimed in self.tenants else None
        owners = self.by_provider.get(str(idp), frozenset())
        if claimed is None and len(owners) == 1:
            return next(iter(owners))
        return claimed if isinstance(claimed, str) and claimed in owners else None

    def place(
        self, idp: str | None, claims: Mapping[str, object], *, asked: Tenant | None = None
    ) -> Mapping[str, object]:
        """Return the claims of a provider's user with the user's tenant; `asked` is that of the request, which may choose."""
        if not self.tenants:
            return claims
        tenant = self.find_name(idp, claims)
        if tenant is None and asked and CLAIM not in claims:
            tenant = self.find_name(idp, {CLAIM: asked.name})
        if tenant is None:
            return {name: value for name, value in claims.items() if name != CLAIM}
        return claims if claims.get(CLAIM) == tenant else {**claims, CLAIM: tenant}
