"""Checks the callers of the admin API: the one place that reads its access tokens (RFC 6750, RFC 9449 §7)."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from urllib.parse import urlsplit

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from service.events.admin import AdminRefused
from service.events.event import Emit
from service.model.admin import READ, WRITE
from service.model.authorization import Authorization
from service.model.registry import LiveRegistry
from service.model.request_context import caller as current_address
from service.model.user import TokenUsers, is_any_met
from service.protocol.errors import (
    InsufficientScope,
    InsufficientUserAuthentication,
    InvalidRequest,
    InvalidToken,
    OAuthError,
)
from service.protocol.uris import DEFAULT_PORTS
from service.tokens.active import ActiveToken
from service.tokens.permitted import find_user_claims, with_identity
from service.tokens.taken_over import is_taken_over
from service.web.endpoint import Message
from service.web.gate import ENDPOINT, UNROUTED
from service.web.key_proofs import TokenGuard


class MisdirectedRequest(InvalidRequest, status=421):
    """The request is for another host than this listener's (RFC 9110 §15.5.20)."""


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """A client that acts for itself, or a user by a client or by the console."""

    client_id: str
    subject: str | None
    """None where a client acts for itself."""
    may_write: bool


class Access(msgspec.Struct, frozen=True, kw_only=True):
    url: str
    """The audience of the tokens."""
    guard: TokenGuard
    users: TokenUsers
    registry: LiveRegistry
    emit: Emit

    async def find_caller(self, request: Message, *, endpoint: str, writes: bool) -> Caller:
        """Return the caller if the request is allowed; raise an error with a challenge otherwise, after it was audited."""
        token: ActiveToken | None = None
        try:
            token = await self.guard.find_token(request)
            return await self._judge(token, request, writes=writes)
        except OAuthError as error:
            if error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                self.refuse(error, request, endpoint=endpoint, token=token)
            raise

    def refuse(
        self, error: OAuthError, request: Message, *, endpoint: str, token: ActiveToken | None
    ) -> None:
        """Audit a refusal."""
        self.emit(
            AdminRefused(
                method=request.method,
                endpoint=endpoint,
                error=error.code,
                cause=error.description,
                client_id=None if token is None else str(token.claims["client_id"]),
                subject=None if token is None else token.subject,
                address=current_address(),
            )
        )

    @web.middleware
    async def require_host(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Serve only requests for the host of `admin.url`: another name for it could be one that an attacker has given it."""
        sent = [host.lower() for host in request.headers.getall("Host", ())]
        if len(sent) != 1 or sent[0] not in _hosts(self.url):
            error = MisdirectedRequest("the Host header is not the host of admin.url")
            self.refuse(error, request, endpoint=request.get(ENDPOINT, UNROUTED), token=None)
            raise error
        return await handler(request)

    async def _judge(self, token: ActiveToken, request: Message, *, writes: bool) -> Caller:
        """Return the caller; the token's own errors come first, so that an invalid one does not show what a caller may do."""
        if token.audience != (self.url,) or not _is_direct(token):
            message = "the access token is not one for the admin API alone, or was not got directly"
            raise self.guard.add_challenge(InvalidToken(message), request)
        needed = WRITE if writes else READ
        may_write = WRITE in token.scope
        if not (may_write or (not writes and READ in token.scope)):
            insufficient = InsufficientScope(f"the access token does not have the scope {needed}")
            raise self.guard.add_challenge(insufficient, request, parameters=f', scope="{needed}"')
        if token.authorization is not None:
            await self._judge_user(token.authorization, request, writes=writes)
        client_id = str(token.claims["client_id"])
        return Caller(client_id=client_id, subject=token.subject, may_write=may_write)

    async def _judge_user(self, person: Authorization, request: Message, *, writes: bool) -> None:
        current = self.registry.current
        admin, claims = current.admin, await find_user_claims(self.users, self.registry, person)
        known = with_identity(claims or {}, str(person.subject), person.idp, current)
        if admin is None or claims is None or not is_any_met(admin.allowed_users, known):
            message = "the user is not one of admin.allowed_users"
            raise self.guard.add_challenge(InsufficientScope(message), request)
        acr = admin.required_acr
        if writes and acr and not current.acr_met(person.amr, (acr,), acr=person.acr):
            error = InsufficientUserAuthentication("the user has to authenticate in a stronger way")
            raise self.guard.add_challenge(error, request, parameters=f', acr_values="{acr}"')


@cache
def _hosts(url: str) -> frozenset[str]:
    """Return the values of Host that stand for a URL, whose default port may be left out (RFC 9110 §7.2)."""
    parts = urlsplit(url.lower())
    host = parts.netloc.removesuffix(f":{parts.port}")
    default = DEFAULT_PORTS[parts.scheme]
    if parts.port in (None, default):
        return frozenset({host, f"{host}:{default}"})
    return frozenset({parts.netloc})


def _is_direct(token: ActiveToken) -> bool:
    """Return whether the client got the token for itself or by a code of a user, and not from another token."""
    if is_taken_over(str(token.claims["jti"])):
        return False
    origin = token.authorization
    if origin is None:
        return True
    is_own = origin.client_id == token.claims["client_id"] and "act" not in token.claims
    return is_own and origin.grant_type == "authorization_code" and origin.source is None
