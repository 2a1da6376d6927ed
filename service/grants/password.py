"""password: the user's own name and password, for clients that cannot do better (RFC 6749 §4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.identity.sign_in import AMR, LocalSignIn
from service.model.authorization import Authorization, new_family_key
from service.model.handle import new_selector
from service.model.registry import LiveRegistry
from service.model.user import LOCAL
from service.protocol.errors import InvalidGrant
from service.tokens.granting import GrantResult, GrantSuccess, ScopeRule, TokenRequest


@dataclass(frozen=True, slots=True)
class PasswordGrant:
    """Verifies the password; every refusal of a person reads alike."""

    grant_type: ClassVar[str] = "password"
    is_registrable: ClassVar[bool] = False
    scope_rule: ClassVar[ScopeRule] = ScopeRule.DEFAULTED
    sign_in: LocalSignIn
    registry: LiveRegistry

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Grant the client what it asks for in the user's name."""
        username = request.params.require("username")
        password = request.params.require("password")
        user = await self.sign_in.verify(username, password, address=request.address)
        if user is None:
            return InvalidGrant("the user name or password is wrong")
        authorization = Authorization(
            id=new_selector(),
            client_id=request.client.client_id,
            scope=request.scope,
            resources=request.resources,
            subject=user.sub,
            amr=AMR,
            acr=self.registry.current.acr_met(AMR),
            idp=LOCAL,
            auth_time=request.now,
            grant_type=self.grant_type,
            family_key=new_family_key(request.scope),
            created_at=request.now,
        )
        return GrantSuccess(grant_type=self.grant_type, authorization=authorization, begins=True)
