"""urn:ietf:params:oauth:grant-type:device_code: a device asks whether its user has allowed it yet (RFC 8628 §3.4)."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from service.model.handle import parse_handle
from service.protocol.errors import InvalidGrant
from service.tokens.granting import GrantResult, ScopeRule, TokenRequest
from service.tokens.polling import Polling


class DeviceCodeGrant(msgspec.Struct, frozen=True):
    scope_rule: ClassVar[ScopeRule] = ScopeRule.OF_AUTHORIZATION
    takes_authorization_details: ClassVar[bool] = True
    polling: Polling

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Grant what the user has allowed, once; raise what RFC 8628 §3.5 says until then."""
        handle = parse_handle(request.params.require("device_code"), "device_code")
        if handle is None:
            return InvalidGrant("the device_code is not one of this service")
        return await self.polling.poll(handle, request)
