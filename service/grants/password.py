"""password: the user's own name and password, for clients that cannot do better (RFC 6749 §4.3)."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from service.identity.accepted_users import find_accepted_users
from service.identity.factors.methods import MFA, Asked, FactorAttempt
from service.identity.factors.second_factors import (
    SecondFactors,
    lacks_second_factor,
)
from service.identity.factors.totp import TotpMethod
from service.identity.password_sign_in import AMR, PasswordSignIn
from service.model.registry import LiveRegistry
from service.model.user import PasswordExpired, User
from service.protocol.errors import InvalidGrant
from service.tokens.granting import GrantResult, ScopeRule, TokenRequest


class PasswordGrant(msgspec.Struct, frozen=True):
    """Verifies the password; every refusal of a user reads alike."""

    scope_rule: ClassVar[ScopeRule] = ScopeRule.DEFAULTED
    takes_authorization_details: ClassVar[bool] = False
    sign_in: PasswordSignIn
    second_factors: SecondFactors
    registry: LiveRegistry

    async def handle(self, request: TokenRequest) -> GrantResult:
        username = request.params.require("username")
        password = request.params.require("password")
        acr_values = (request.params.get("acr_values") or "").split()
        accepted = find_accepted_users(acr_values, request.client, self.registry.current)
        accepted.require_tenant(self.registry.current)
        try:
            user = await self.sign_in.verify(
                username, password, address=request.address, accepted=accepted
            )
        except PasswordExpired:
            return InvalidGrant("the password has expired and has to be changed first")
        amr = None if user is None else await self._find_methods(user, request)
        if user is None or amr is None:
            return InvalidGrant("the user name or password is wrong, or otp is missing or wrong")
        return request.granted_to(user.sub, amr=amr, acr=self.registry.current.acr_met(amr))

    async def _find_methods(self, user: User, request: TokenRequest) -> tuple[str, ...] | None:
        """Return how the user has authenticated; None where the second factor is missing or wrong.

        It can be the code of an app only: nobody can answer a page here.
        """
        factors = await self.second_factors.enrolled.find(user.sub)
        method = self.second_factors.find_method(TotpMethod.name)
        if method is not None and factors.totp is not None and request.params.get("otp"):
            attempt = FactorAttempt(
                sub=user.sub,
                params=request.params,
                asked=Asked(browser="", parked_id=""),
                address=request.address,
            )
            amr = await self.second_factors.verify(method, attempt)
            return None if amr is None else (*AMR, *amr, MFA)
        lacks = lacks_second_factor(AMR, factors, self.registry.current, request.client)
        return None if lacks else AMR
