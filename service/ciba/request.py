"""Reads CIBA requests: what is asked for, of whom, for how long, and how the client will learn of the answer (CIBA Core §7.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec

from service.authorize.checks import RequestReader
from service.authorize.parameters import CIBA
from service.authorize.request import AuthorizeRequest
from service.authorize.request_object import UsedOnce
from service.ciba.hints import HintedUser, Hints, UserCodes, require_one
from service.config.schema.server import Ciba
from service.model.client import Client
from service.model.polling import CIBA as GRANT_TYPE
from service.model.user import LOCAL, User
from service.protocol.errors import (
    CibaAccessDenied,
    InvalidBindingMessage,
    InvalidRequest,
    InvalidRequestObject,
    UnauthorizedClient,
    UnknownUserId,
)
from service.protocol.invisible import INVISIBLE
from service.protocol.params import Params
from service.tokens.permitted import may_use

PING = "ping"

_BEARER = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""RFC 6750 §2.1."""
_MAX_NOTIFICATION_TOKEN = 1024
_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class CibaRequest:
    """A client's request, each parameter understood."""

    request: AuthorizeRequest
    hinted: HintedUser
    once: tuple[UsedOnce, ...]
    """The JWTs that it came with, each of which counts once."""
    binding_message: str | None
    expires_in: int
    notification_token: str | None = field(repr=False)
    """What a ping shows to the client; None for a client that only polls."""


class CibaReader(msgspec.Struct, frozen=True, kw_only=True):
    reader: RequestReader
    hints: Hints
    user_codes: UserCodes
    settings: Ciba

    async def read(self, sent: Params, client: Client, *, client_address: str) -> CibaRequest:
        """Return the request of an authenticated client; raise an error of CIBA Core §13."""
        if GRANT_TYPE not in client.allowed_grant_types:
            raise UnauthorizedClient("the client is not registered for CIBA")
        try:
            arrival = await self.reader.arrive(sent, client, CIBA, client_address=client_address)
            request = await self.reader.read(arrival)
        except InvalidRequestObject as error:  # CIBA knows no other error for it
            raise InvalidRequest(error.description) from error
        params = arrival.params
        require_one(params)
        message = self._read_binding_message(params.get("binding_message"), request)
        expires_in = self._read_expiry(params.get("requested_expiry"))
        notification_token = _read_notification_token(params, client)
        hinted = await self.hints.find(params, client)
        self._check_user(hinted.user, request)
        await self.user_codes.check(params.get("user_code"), hinted.user, client)
        return CibaRequest(
            request=request,
            hinted=hinted,
            once=tuple(one for one in (arrival.once, hinted.token) if one is not None),
            binding_message=message,
            expires_in=expires_in,
            notification_token=notification_token,
        )

    def _check_user(self, user: User, request: AuthorizeRequest) -> None:
        """Raise UnknownUserId for a user of another tenant, CibaAccessDenied for one without permission for the client."""
        registry, permissions = self.reader.clients.registry.current, request.client.permissions
        if not request.accepts_tenant(registry.tenant_of(LOCAL, user.claims)):
            raise UnknownUserId("no user is the one that the hint names")
        if not permissions.accepts_users_of(LOCAL):
            raise CibaAccessDenied("the client does not accept users who sign in here")
        if not may_use(permissions, user.sub, LOCAL, user.claims, registry):
            raise CibaAccessDenied("the user may not use the client")

    def _read_binding_message(self, text: str | None, request: AuthorizeRequest) -> str | None:
        """Return the message; FAPI requires one unless the request says what it is for (FAPI-CIBA §5.2.2)."""
        if text is None:
            if request.client.follows_fapi and not request.authorization_details:
                raise InvalidBindingMessage("binding_message is missing")
            return None
        longest = self.settings.max_binding_message
        if len(text) > longest:
            raise InvalidBindingMessage(f"binding_message is longer than {longest} characters")
        if INVISIBLE.search(text) or not text.strip():
            raise InvalidBindingMessage("binding_message has characters that cannot be seen")
        return text

    def _read_expiry(self, text: str | None) -> int:
        """Return the number of seconds, at most `ciba.max_expiry`."""
        if text is None:
            return self.settings.expires_in
        if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS and int(text)):
            raise InvalidRequest("requested_expiry is not a positive number of seconds")
        return min(int(text), self.settings.max_expiry)


def _read_notification_token(params: Params, client: Client) -> str | None:
    """Return the token for a ping, which a client in that mode has to send (CIBA Core §7.1)."""
    if client.backchannel_token_delivery_mode != PING:
        return None
    token = params.require("client_notification_token")
    if len(token) > _MAX_NOTIFICATION_TOKEN or not _BEARER.fullmatch(token):
        message = "client_notification_token is not a bearer token of at most 1024 characters"
        raise InvalidRequest(message)
    return token
