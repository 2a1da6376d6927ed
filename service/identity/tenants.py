"""Finds the tenant that a request is for, and so the users that may sign in for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from msgspec.structs import replace

from service.identity.sign_in import SignIn
from service.model.authentication_context import TENANT
from service.model.client import Client
from service.model.registry import Registry
from service.model.tenant import Tenant
from service.protocol.typed_text import find_domain


class AskedTenant(NamedTuple):
    tenant: Tenant | None
    """The tenant that the request is for."""
    tenants: frozenset[str]
    """Those whose users may answer it; empty: users of all tenants, and of none."""


def find_tenant(acr_values: Iterable[str], client: Client, registry: Registry) -> AskedTenant:
    """Return the first tenant that acr_values name and that the client is for, else the client's only one."""
    own = client.tenants
    names = [each.removeprefix(TENANT) for each in acr_values if each.startswith(TENANT)]
    names += own if len(own) == 1 else ()
    known = (registry.find_tenant(name) for name in names)
    tenant = next((each for each in known if each and (not own or each.name in own)), None)
    is_configured = tenant is not None and tenant.name in registry.tenants
    return AskedTenant(tenant, frozenset({tenant.name}) if tenant and is_configured else own)


def place_in_tenant(who: SignIn, registry: Registry, asked: Tenant | None) -> SignIn:
    """Return the sign-in at a provider with the `tenant` claim that holds here; the request's tenant decides where several could."""
    return replace(who, user_claims=registry.with_tenant(who.idp, who.user_claims, asked=asked))


def find_tenant_of_address(
    address: str, registry: Registry, accepted: Collection[str]
) -> Tenant | None:
    """Return the tenant of an e-mail address's domain, whether or not anybody has the address; one of those accepted, if there are any."""
    domain = find_domain(address)
    owners = (each for each in registry.tenants.values() if domain in each.domains)
    return next((each for each in owners if not accepted or each.name in accepted), None)
