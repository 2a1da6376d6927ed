"""device_code and ciba: a client asks whether the user has allowed its request yet (RFC 8628 §3.4, CIBA Core §10.1, §11)."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from service.model.handle import HandleKind, parse_handle
from service.protocol.errors import InvalidGrant
from service.tokens.granting import GrantResult, ScopeRule, TokenRequest
from service.tokens.polling import Polling


class PollingGrant(msgspec.Struct, frozen=True):
    """Grants what the user has allowed, once; raises what RFC 8628 §3.5 says until then."""

    parameter: ClassVar[HandleKind]
    """The one that names the request that is asked about; handles of its kind are named so, too."""
    scope_rule: ClassVar[ScopeRule] = ScopeRule.OF_AUTHORIZATION
    takes_authorization_details: ClassVar[bool] = True
    polling: Polling

    async def handle(self, request: TokenRequest) -> GrantResult:
        handle = parse_handle(request.params.require(self.parameter), self.parameter)
        if handle is None:
            return InvalidGrant(f"the {self.parameter} is not one of this service")
        return await self.polling.poll(handle, request)


class DeviceCodeGrant(PollingGrant, frozen=True):
    """urn:ietf:params:oauth:grant-type:device_code."""

    parameter: ClassVar[HandleKind] = "device_code"


class CibaGrant(PollingGrant, frozen=True):
    """urn:openid:params:grant-type:ciba, for clients that poll and for those that got a ping."""

    parameter: ClassVar[HandleKind] = "auth_req_id"
