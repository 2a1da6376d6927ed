"""Finds the account here of a provider's user: one of its own, or that of the user with the same verified e-mail address.

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
from service.model.user import LOCAL, FindsByEmail, User
from service.model.verified_claims import vouches_for


class ProviderAccounts(msgspec.Struct, frozen=True, kw_only=True):
    users: FindsByEmail
    registry: LiveRegistry

    async def link(
        self, provider: IdentityProvider, who: SignIn, claims: Mapping[str, object]
    ) -> SignIn:
        """Return the sign-in to the account of our user with the same verified address; else `who`, unchanged.

        ProviderUserRefused where this account is disabled. A sign-in to an account has the claim `sub`, which no
        provider can set: its other claims are those of the user store (`find_user_claims` in tokens/permitted.py).
        """
        registry, email = self.registry.current, _find_verified_email(claims)
        if (
            not provider.links_by_email
            or email is None
            or not vouches_for(provider, email, registry)
        ):
            return who
        user = await self.users.by_email(email)
        if user is None or not _has_verified(user, email):
            return who
        tenant = registry.tenancy.find_name(LOCAL, user.claims)
        owners = registry.tenancy.by_provider.get(provider.name, frozenset())
        if tenant not in (owners or {None}):
            return who
        if not user.enabled:
            raise ProviderUserRefused("the user with its e-mail address is disabled here")
        linked = {"sub": user.sub} | ({} if tenant is None else {CLAIM: tenant})
        return replace(who, subject=user.sub, user_claims=linked)


def _find_verified_email(claims: Mapping[str, object]) -> str | None:
    """Return the address if the provider says that it is verified.

    Addresses with other letters than ASCII are not compared: several are the same without regard to case.
    """
    email, is_verified = claims.get("email"), claims.get("email_verified") is True
    return email if isinstance(email, str) and email.isascii() and is_verified else None


def _has_verified(user: User, email: str) -> bool:
    """Return whether the user store has found what it was asked for: it may be the operator's own."""
    known = user.claims.get("email")
    is_verified = user.claims.get("email_verified") is True
    return isinstance(known, str) and known.lower() == email.lower() and is_verified
