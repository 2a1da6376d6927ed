"""Finds the users that may answer a request: those of its tenant, else those of its client's tenants, else all."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec
from msgspec.structs import replace

from service.identity.providers.provider import ProviderRefused
from service.identity.sign_in import SignIn
from service.model.authentication_context import TENANT
from service.model.client import Client
from service.model.registry import Registry
from service.model.tenant import CLAIM, Tenant
from service.model.user import LoginFailure, User
from service.protocol.errors import InvalidRequest


class AcceptedUsers(msgspec.Struct, frozen=True, kw_only=True):
    """The users that may answer a request."""

    tenant: Tenant | None = None
    """The tenant that the request is for."""
    tenants: frozenset[str] = frozenset()
    """Those whose users may answer it; empty: users of all tenants, and of none."""

    def require_tenant(self, registry: Registry) -> None:
        """Raise InvalidRequest if the request has to be for a tenant, and is for none."""
        if registry.tenants_required and self.tenant is None:
            raise InvalidRequest("acr_values has to name a tenant of the client, as tenant:NAME")

    def find_failure(self, user: User) -> LoginFailure | None:
        """Return why this user of the user store may not answer, if so; only the audit log tells it."""
        tenant = user.claims.get(CLAIM)
        if not self.tenants or (isinstance(tenant, str) and tenant in self.tenants):
            return None
        return "other_tenant"

    def include(self, idp: str | None, claims: Mapping[str, object], registry: Registry) -> bool:
        """Return whether a user with these claims may answer."""
        return not self.tenants or registry.tenancy.find_name(idp, claims) in self.tenants

    def may_come_from(self, idp: str, registry: Registry) -> bool:
        """Return whether it is a provider of one of the tenants; without tenants every one is."""
        owners = registry.tenancy.by_provider.get(idp, frozenset())
        return not self.tenants or not owners.isdisjoint(self.tenants)

    def place(self, who: SignIn, registry: Registry) -> SignIn:
        """Return the sign-in at a provider with the `tenant` claim that holds here; ProviderRefused if the user may not answer.

        The request's tenant decides where the user could be of several.
        """
        claims = registry.tenancy.place(who.idp, who.user_claims, asked=self.tenant)
        if not self.include(who.idp, claims, registry):
            raise ProviderRefused("its user is not of the tenant that the request is for")
        return replace(who, user_claims=claims)


EVERYBODY = AcceptedUsers()
"""All of them: also those that may sign in without a request of a client."""


def find_accepted_users(
    acr_values: Collection[str], client: Client, registry: Registry
) -> AcceptedUsers:
    """Return those of the first tenant that acr_values name and that the client is for, else of the client's only one."""
    own = client.tenants
    if not acr_values and not own:
        return EVERYBODY
    names = [each.removeprefix(TENANT) for each in acr_values if each.startswith(TENANT)]
    names += own if len(own) == 1 else ()
    known = map(registry.tenancy.find, names)
    tenant = next((each for each in known if each and (not own or each.name in own)), None)
    is_configured = tenant is not None and tenant.name in registry.tenants
    return AcceptedUsers(
        tenant=tenant, tenants=frozenset({tenant.name}) if tenant and is_configured else own
    )
