"""Finds the account here of a provider's user: that of the user with this identity or verified e-mail address, or one of its own.

The address is a weaker key than `sub`: it is compared only where the operator trusts the provider with it (OIDC Core §5.7).
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from service.identity.providers.provider import ProviderUserRefused
from service.identity.sign_in import SignIn
from service.model.identity_provider import IdentityProvider
from service.model.registry import LiveRegistry
from service.model.tenant import CLAIM
from service.model.user import LINKED_BY_IDENTITY, LOCAL, LinkedUsers, User


class ProviderAccounts(msgspec.Struct, frozen=True, kw_only=True):
    users: LinkedUsers
    registry: LiveRegistry

    async def link(
        self,
        provider: IdentityProvider,
        who: SignIn,
        claims: Mapping[str, object],
        *,
        subject: str,
    ) -> SignIn:
        """Return the sign-in to the account of our user with this subject there, or this verified address; else `who`, unchanged.

        ProviderUserRefused where this account is disabled.
        """
        user = await self.users.by_identity(provider.name, subject)
        if user is None:
            return await self._link_by_email(provider, who, claims)
        if not self._may_link(provider, user):
            raise ProviderUserRefused("the user with its identity is of another tenant")
        return self._link_to(user, who, LINKED_BY_IDENTITY, named="identity")

    async def _link_by_email(
        self, provider: IdentityProvider, who: SignIn, claims: Mapping[str, object]
    ) -> SignIn:
        registry, email = self.registry.current, _find_verified_email(claims)
        if (
            not provider.links_by_email
            or email is None
            or not provider.vouches_for(email, registry.identity_providers.values())
        ):
            return who
        user = await self.users.by_email(email)
        if not isinstance(user, User) or not has_verified(user, email):
            return who
        if not self._may_link(provider, user):
            return who
        return self._link_to(user, who, {}, named="e-mail address")

    def _may_link(self, provider: IdentityProvider, user: User) -> bool:
        """Return whether users of the provider are of the user's tenant, or both are of none."""
        tenancy = self.registry.current.tenancy
        owners = tenancy.by_provider.get(provider.name, frozenset())
        return tenancy.find_name(LOCAL, user.claims) in (owners or {None})

    def _link_to(
        self, user: User, who: SignIn, mark: Mapping[str, object], *, named: str
    ) -> SignIn:
        if not user.enabled:
            raise ProviderUserRefused(f"the user with its {named} is disabled here")
        return self.sign_in_to(user, who, mark)

    def sign_in_to(self, user: User, who: SignIn, mark: Mapping[str, object]) -> SignIn:
        """Return the sign-in to a user of the user store, noted by `sub` among its claims (`is_in_store`).

        Its other claims are those of the user store (`find_user_claims` in tokens/permitted.py).
        """
        tenant = self.registry.current.tenancy.find_name(LOCAL, user.claims)
        linked = {"sub": user.sub, **mark} | ({} if tenant is None else {CLAIM: tenant})
        return replace(who, subject=user.sub, user_claims=linked)


def _find_verified_email(claims: Mapping[str, object]) -> str | None:
    """Return the address if the provider says that it is verified.

    Addresses with other letters than ASCII are not compared: several are the same without regard to case.
    """
    email, is_verified = claims.get("email"), claims.get("email_verified") is True
    return email if isinstance(email, str) and email.isascii() and is_verified else None


def has_verified(user: User, email: str) -> bool:
    """Return whether the user store has found the address of ASCII that it was asked for: it may be the operator's own.

    Letters beyond ASCII have some of ASCII as their lower case, and are others.
    """
    known = user.claims.get("email")
    is_verified = user.claims.get("email_verified") is True
    is_same = isinstance(known, str) and known.isascii() and known.lower() == email.lower()
    return is_same and is_verified
