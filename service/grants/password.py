"""password: the user's own name and password, for clients that cannot do better (RFC 6749 §4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.identity.sign_in import AMR, LocalSignIn
from service.identity.tenants import find_tenant
from service.model.registry import LiveRegistry
from service.protocol.errors import InvalidGrant, InvalidRequest
from service.tokens.granting import GrantResult, ScopeRule, TokenRequest


@dataclass(frozen=True, slots=True)
class PasswordGrant:
    """Verifies the password; every refusal of a user reads alike."""

    grant_type: ClassVar[str] = "password"
    is_registrable: ClassVar[bool] = False
    scope_rule: ClassVar[ScopeRule] = ScopeRule.DEFAULTED
    takes_authorization_details: ClassVar[bool] = False
    sign_in: LocalSignIn
    registry: LiveRegistry

    async def handle(self, request: TokenRequest) -> GrantResult:
        username = request.params.require("username")
        password = request.params.require("password")
        acr_values = (request.params.get("acr_values") or "").split()
        asked = find_tenant(acr_values, request.client, self.registry.current)
        if asked.tenant is None and self.registry.current.tenants_required:
            return InvalidRequest("acr_values has to name a tenant of the client, as tenant:NAME")
        user = await self.sign_in.verify(
            username, password, address=request.address, tenants=asked.tenants
        )
        if user is None:
            return InvalidGrant("the user name or password is wrong")
        return request.granted_to(user.sub, amr=AMR, acr=self.registry.current.acr_met(AMR))
