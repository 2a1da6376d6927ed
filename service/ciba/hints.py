"""Finds the user that a hint of a CIBA request names, and checks the user's own code (CIBA Core §7.1, §7.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

import msgspec
import structlog

from service.authorize.request_object import UsedOnce
from service.clients.keys import ClientKeys
from service.clock import clock
from service.identity.passwords import MAX_PASSWORD, FairTurns, Passwords, is_plain_text
from service.identity.sessions import Sessions
from service.identity.sign_in import Throttle
from service.identity.users import Directory
from service.keys import jose, times
from service.keys.algorithms import SIGNING_ALGORITHMS
from service.keys.foreign_keys import UNNAMED
from service.keys.jose import JwtRefused
from service.model.client import Client
from service.model.handle import digest
from service.model.user import User
from service.protocol.errors import (
    ExpiredLoginHintToken,
    InvalidRequest,
    InvalidUserCode,
    MissingUserCode,
    UnknownUserId,
)
from service.protocol.params import Params
from service.tokens.id_token import IdTokens

log = structlog.stdlib.get_logger(__name__)

HINTS = ("login_hint", "id_token_hint", "login_hint_token")
MAX_LIFETIME = 3600
"""Seconds that a login_hint_token may be valid for: so long its `jti` is remembered."""

_TYP = frozenset({UNNAMED, "jwt"})
_CLAIM_TYPES: Mapping[str, type | tuple[type, ...]] = {"sub": str, "exp": (int, float), "jti": str}


class LoginHintToken(NamedTuple):
    sub: str
    once: UsedOnce


class HintedUser(NamedTuple):
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
        if found is None and hint.isascii():  # as every sub is (OIDC Core §2)
            found = await self.users.by_subject(hint)
        return found or await self.users.by_email(hint)

    async def _find_by_id_token(self, hint: str, client: Client) -> User | None:
        """Return the user of an ID token; a pairwise `sub` is understood as long as the session lives."""
        known = await self.id_tokens.read_hint(hint, sender=client)
        if known is None or not known.is_proof or known.client.client_id != client.client_id:
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
            expires_at = int(times.time_in(claims, "exp") or 0)
            times.check_times({**claims, "exp": None}, now=clock(), clock_skew=self.clock_skew)
            self._check_parties(claims, client)
        except JwtRefused as refused:
            log.info("login_hint_token refused", client_id=client.client_id, reason=str(refused))
            raise InvalidRequest("the login_hint_token cannot be verified") from refused
        left = expires_at - clock()
        if left <= -self.clock_skew:
            raise ExpiredLoginHintToken("the login_hint_token has expired")
        if left > MAX_LIFETIME + self.clock_skew:
            raise InvalidRequest("exp of the login_hint_token is too far away")
        key = digest(f"login_hint_token\n{client.client_id}\n{claims['jti']}")
        return LoginHintToken(str(claims["sub"]), UsedOnce(key=key, expires_at=expires_at))

    def _check_parties(self, claims: jose.VerifiedClaims, client: Client) -> None:
        """Raise JwtRefused unless it is for this service, and by the client where it names its issuer."""
        audience = claims.get("aud")
        listed = cast("list[object]", audience) if isinstance(audience, list) else [audience]
        if self.id_tokens.issuer not in listed:
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
    """Compares a code with the user's own; guesses are limited as those of passwords are, per client instead of address."""

    passwords: Passwords
    turns: FairTurns
    throttle: Throttle

    async def check(self, given: str | None, user: User, client: Client) -> None:
        """Raise MissingUserCode or InvalidUserCode unless the code is right, or none is needed."""
        is_needed = user.ciba_user_code is not None or client.backchannel_user_code_parameter
        if given is None and is_needed:
            raise MissingUserCode("user_code is missing: the user has to give it to the client")
        if given is not None and not await self._is_right(given, user, client):
            raise InvalidUserCode("user_code is not the user's")

    async def _is_right(self, given: str, user: User, client: Client) -> bool:
        account, place = f"\0{user.sub}", f"client {client.client_id}"  # no user name, no address
        async with self.turns.place(place), self.turns.turn(place):
            if await self.throttle.is_locked(account, place):
                return False
            is_readable = is_plain_text(given, longest=MAX_PASSWORD)
            code = given if is_readable else ""
            if await self.passwords.verifies(code, user.ciba_user_code) and is_readable:
                await self.throttle.clear(account, place)
                return True
            await self.throttle.count_failure(account, place)
        return False
