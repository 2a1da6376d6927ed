"""urn:ietf:params:oauth:grant-type:jwt-bearer: a JWT of a trusted issuer says who the user is (RFC 7523 §2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.identity.assertions import ForeignAssertion, ForeignAssertions
from service.keys.jose import JwtRefused
from service.model.authorization import Authorization
from service.model.handle import new_selector
from service.protocol.errors import InvalidGrant, InvalidScope
from service.protocol.scope import OFFLINE_ACCESS
from service.tokens.granting import GrantResult, NewGrant, ScopeRule, TokenRequest


@dataclass(frozen=True, slots=True)
class JwtBearerGrant:
    """Grants an access token and never a refresh token: the client brings a new assertion (RFC 7521 §4.1)."""

    grant_type: ClassVar[str] = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    is_registrable: ClassVar[bool] = True
    scope_rule: ClassVar[ScopeRule] = ScopeRule.DEFAULTED
    takes_authorization_details: ClassVar[bool] = False
    assertions: ForeignAssertions

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Grant the scope to the user whom the assertion names, once for each assertion."""
        presented = request.params.require("assertion")
        scope = request.scope - {OFFLINE_ACCESS}
        if not scope:
            return InvalidScope("offline_access is not possible with an assertion")
        try:
            assertion = await self.assertions.verify(presented, request.client)
            await self.assertions.use_up(assertion, request.client)
        except JwtRefused as refused:
            return InvalidGrant(f"the assertion is refused: {refused}")
        return NewGrant(authorization=_authorize(request, assertion, scope))


def _authorize(
    request: TokenRequest, assertion: ForeignAssertion, scope: frozenset[str]
) -> Authorization:
    return Authorization(
        id=new_selector(),
        client_id=request.client.client_id,
        scope=scope,
        resources=request.resources,
        subject=assertion.subject,
        amr=(request.grant_type,),
        idp=assertion.idp,
        auth_time=assertion.auth_time,
        user_claims=assertion.user_claims,
        grant_type=request.grant_type,
        cnf=request.cnf,
        created_at=request.now,
    )
