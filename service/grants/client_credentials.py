"""client_credentials: a client acts for itself (RFC 6749 §4.4)."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from service.model.authorization import Authorization
from service.model.handle import new_selector
from service.model.registry import LiveRegistry
from service.protocol.errors import InvalidAuthorizationDetails, InvalidScope
from service.protocol.scope import OFFLINE_ACCESS
from service.tokens.granting import GrantResult, NewGrant, ScopeRule, TokenRequest


class ClientCredentialsGrant(msgspec.Struct, frozen=True):
    """Grants an access token without a user, and never a refresh token (RFC 6749 §4.4.3)."""

    scope_rule: ClassVar[ScopeRule] = ScopeRule.DEFAULTED
    takes_authorization_details: ClassVar[bool] = True
    registry: LiveRegistry

    async def handle(self, request: TokenRequest) -> GrantResult:
        about_users = self.registry.current.identity_resources
        if OFFLINE_ACCESS in request.scope or not request.scope.isdisjoint(about_users):
            return InvalidScope("scope holds a value that needs a user")
        if request.authorization_details and request.client.dynamically_registered:
            message = "authorization_details need a user where the client registered itself"
            return InvalidAuthorizationDetails(message)
        authorization = Authorization(
            id=new_selector(),
            client_id=request.client.client_id,
            scope=request.scope,
            resources=request.resources,
            authorization_details=request.authorization_details,
            cnf=request.cnf,
            created_at=request.now,
        )
        return NewGrant(authorization=authorization)
