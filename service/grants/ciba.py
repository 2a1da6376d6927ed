"""urn:openid:params:grant-type:ciba: a client asks whether the user has allowed its CIBA request (CIBA Core §10.1, §11)."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from service.model.handle import parse_handle
from service.protocol.errors import InvalidGrant
from service.tokens.granting import GrantResult, ScopeRule, TokenRequest
from service.tokens.polling import Polling


class CibaGrant(msgspec.Struct, frozen=True):
    """Polling, for clients that poll and for those that got a ping."""

    scope_rule: ClassVar[ScopeRule] = ScopeRule.OF_AUTHORIZATION
    takes_authorization_details: ClassVar[bool] = True
    polling: Polling

    async def handle(self, request: TokenRequest) -> GrantResult:
        handle = parse_handle(request.params.require("auth_req_id"), "auth_req_id")
        if handle is None:
            return InvalidGrant("the auth_req_id is not one of this service")
        return await self.polling.poll(handle, request)
