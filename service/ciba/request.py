"""Reads CIBA requests: what is asked for, of whom, for how long, and how the client will learn of the answer (CIBA Core §7.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
import structlog

from service.authorize.checks import RequestReader
from service.authorize.parameters import CIBA
from service.authorize.request import AuthorizeRequest
from service.authorize.request_object import UsedOnce
from service.clients.keys import ClientKeys
from service.clock import clock
from service.identity.factors.guesses import Guesses
from service.identity.passwords import FairTurns, Passwords
from service.identity.sessions import Sessions
from service.identity.throttle import Throttle, account_of_code
from service.identity.users import Directory
from service.keys import jose
from service.keys.algorithms import SIGNING_ALGORITHMS
from service.keys.foreign_keys import UNNAMED, audiences_of, check_times, time_in
from service.keys.jose import JwtRefused
from service.model.backchannel import Ciba
from service.model.client import Client
from service.model.handle import digest
from service.model.polling import CIBA as GRANT_TYPE
from service.model.user import LOCAL, MAX_PASSWORD, User
from service.protocol.errors import (
    CibaAccessDenied,
    ExpiredLoginHintToken,
    InvalidBindingMessage,
    InvalidRequest,
    InvalidRequestObject,
    InvalidUserCode,
    MissingUserCode,
    UnauthorizedClient,
    UnknownUserId,
)
from service.protocol.params import Params
from service.protocol.typed_text import INVISIBLE, is_plain_text
from service.tokens.id_token import IdTokens
from service.tokens.permitted import may_use

log = structlog.stdlib.get_logger(__name__)

PING = "ping"

_BEARER = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""RFC 6750 §2.1."""
_MAX_NOTIFICATION_TOKEN = 1024
_MAX_DIGITS = 9

HINTS = ("login_hint", "id_token_hint", "login_hint_token")
MAX_LIFETIME = 3600
"""Seconds that a login_hint_token may be valid for: so long its `jti` is remembered."""

_TYP = frozenset({UNNAMED, "jwt"})
_CLAIM_TYPES: Mapping[str, type | tuple[type, ...]] = {"sub": str, "exp": (int, float), "jti": str}


class CibaRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A client's request, each parameter understood."""

    request: AuthorizeRequest
    hinted: HintedUser
    once: tuple[UsedOnce, ...]
    """The JWTs that it came with, each of which counts once."""
    binding_message: str | None
    expires_in: int
    notification_token: str | None
    """The token that a ping shows to the client; None for a client that only polls."""


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
        """Raise UnknownUserId for a user that may not answer the request, CibaAccessDenied for one without permission for the client."""
        registry, permissions = self.reader.clients.registry.current, request.client.permissions
        if not request.users.include(LOCAL, user.claims, registry):
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


class LoginHintToken(msgspec.Struct, frozen=True):
    sub: str
    once: UsedOnce


class HintedUser(msgspec.Struct, frozen=True):
    user: User
    token: UsedOnce | None
    """The token that named the user, if one did; it counts once."""


class Hints(msgspec.Struct, frozen=True, kw_only=True):
    """Finds users of this service itself; one who only ever signs in at a provider is unknown here."""

    id_tokens: IdTokens
    users: Directory
    sessions: Sessions
    keys: ClientKeys
    clock_skew: int

    async def find(self, params: Params, client: Client) -> HintedUser:
        """Return the active user that the only hint names; raise UnknownUserId for anybody else."""
        name, token = require_one(params), None
        hint = params.require(name)
        match name:
            case "login_hint":
                user = await self._find_by_name(hint)
            case "id_token_hint":
                user = await self._find_by_id_token(hint, client)
            case _:
                named = await self._verify_token(hint, client)
                user, token = await self.users.by_subject(named.sub), named.once
        if user is None or not user.enabled:
            raise UnknownUserId("no user is the one that the hint names")
        return HintedUser(user, token)

    async def consume(self, token: UsedOnce) -> None:
        """Remember a JWT of a request in all replicas; raise InvalidRequest if it has been used before."""
        stores, ttl = self.sessions.stores, token.expires_at - clock() + self.clock_skew
        if not await stores.is_first_use(stores.used_assertions, token.key, ttl=ttl):
            raise InvalidRequest("the request object or login_hint_token has been used before")

    async def _find_by_name(self, hint: str) -> User | None:
        """Return the user with this user name, else this `sub`, else this verified email address."""
        found = await self.users.by_username(hint)
        if found is None:
            found = await self.users.by_subject(hint)
        if found is None:
            named = await self.users.by_email(hint)
            found = named if isinstance(named, User) else None
        return found

    async def _find_by_id_token(self, hint: str, client: Client) -> User | None:
        """Return the user of an ID token; a pairwise `sub` is understood as long as the session lives."""
        try:
            known = await self.id_tokens.read_hint(hint, sender=client)
        except JwtRefused as refused:
            raise InvalidRequest(f"id_token_hint {refused}") from refused
        if not known.is_proof or known.client.client_id != client.client_id:
            raise InvalidRequest("id_token_hint is not an ID token of this service for the client")
        if known.client.subject_type == "public":
            return await self.users.by_subject(str(known.claims["sub"]))
        session = await self.sessions.find_by_id(str(known.claims.get("sid")))
        if session is None or not known.user.has_subject(session.subject):
            return None
        return await self.users.by_subject(session.subject)

    async def _verify_token(self, hint: str, client: Client) -> LoginHintToken:
        """Return what a JWT of the client says (CIBA Core §7.1)."""
        try:
            algorithms = client.accepted_algorithms(SIGNING_ALGORITHMS)
            claims = await self.keys.verify(hint, client, algorithms=algorithms, typ=_TYP)
            jose.require_claims(claims, _CLAIM_TYPES)
            expires_at = int(time_in(claims, "exp") or 0)
            check_times({**claims, "exp": None}, now=clock(), clock_skew=self.clock_skew)
            self._check_parties(claims, client)
        except JwtRefused as refused:
            log.info("login_hint_token refused", client_id=client.client_id, reason=str(refused))
            raise InvalidRequest(f"the login_hint_token is refused: {refused}") from refused
        left = expires_at - clock()
        if left <= -self.clock_skew:
            raise ExpiredLoginHintToken("the login_hint_token has expired")
        if left > MAX_LIFETIME + self.clock_skew:
            raise InvalidRequest("exp of the login_hint_token is too far away")
        key = digest(f"login_hint_token\n{client.client_id}\n{claims['jti']}")
        return LoginHintToken(str(claims["sub"]), UsedOnce(key=key, expires_at=expires_at))

    def _check_parties(self, claims: jose.VerifiedClaims, client: Client) -> None:
        """Raise JwtRefused unless it is for this service, and by the client where it names its issuer."""
        if self.id_tokens.issuer not in audiences_of(claims.get("aud")):
            raise JwtRefused("aud is not this service")
        if claims.get("iss") not in (None, client.client_id):
            raise JwtRefused("iss is not the client_id")


def require_one(params: Params) -> str:
    """Return the name of the only hint; raise InvalidRequest for none and for several (CIBA Core §7.1)."""
    sent = [name for name in HINTS if params.get(name) is not None]
    if len(sent) != 1:
        raise InvalidRequest(f"exactly one of {', '.join(HINTS)} has to be sent")
    return sent[0]


class UserCodes(msgspec.Struct, frozen=True, kw_only=True):
    """Compares a code with the user's own; guesses are limited as those of passwords are, per client instead of address.

    Wrong codes in a row of one client lock the user's code for it for longer and longer.
    """

    passwords: Passwords
    turns: FairTurns
    throttle: Throttle
    guesses: Guesses

    async def check(self, given: str | None, user: User, client: Client) -> None:
        """Raise MissingUserCode or InvalidUserCode unless the code is right, or none is needed."""
        is_needed = user.ciba_user_code is not None or client.backchannel_user_code_parameter
        if given is None and is_needed:
            raise MissingUserCode("user_code is missing: the user has to give it to the client")
        if given is not None and not await self._is_right(given, user, client):
            raise InvalidUserCode("user_code is not the user's")

    async def _is_right(self, given: str, user: User, client: Client) -> bool:
        account, place = account_of_code(user.sub), f"client {client.client_id}"  # no address
        async with self.turns.place(place), self.turns.turn(place):
            failures, _ = await self.throttle.find(account, place)
            if failures.are_too_many:
                return False
            if not await self.guesses.take(account, place):
                return False
            is_readable = is_plain_text(given, longest=MAX_PASSWORD)
            code = given if is_readable else ""
            if await self.passwords.verifies(code, user.ciba_user_code) and is_readable:
                await self.throttle.clear(failures)
                await self.guesses.forget(account, place)
                return True
            await self.throttle.count_failure(account, place)
        return False
