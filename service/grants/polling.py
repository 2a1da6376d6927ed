"""device_code and ciba: a client asks whether the user has allowed its request yet (RFC 8628 §3.4, CIBA Core §10.1, §11)."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from service.model.handle import parse_handle
from service.model.polling import HANDLES
from service.protocol.errors import InvalidGrant
from service.tokens.granting import GrantResult, ScopeRule, TokenRequest
from service.tokens.polling import Polling


class PollingGrant(msgspec.Struct, frozen=True):
    """Grants what the user has allowed, once; raises what RFC 8628 §3.5 says until then."""

    scope_rule: ClassVar[ScopeRule] = ScopeRule.OF_AUTHORIZATION
    takes_authorization_details: ClassVar[bool] = True
    polling: Polling

    async def handle(self, request: TokenRequest) -> GrantResult:
        parameter = HANDLES[request.grant_type]
        handle = parse_handle(request.params.require(parameter), parameter)
        if handle is None:
            return InvalidGrant(f"the {parameter} is not one of this service")
        return await self.polling.poll(handle, request)
