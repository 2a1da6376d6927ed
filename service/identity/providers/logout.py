"""Ends sessions whose users have logged out at their provider (OpenID Connect Back-Channel Logout §2.5-2.8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec

from service.clock import clock
from service.events.event import Emit
from service.events.providers import ProviderLogoutReceived, ProviderLogoutRefused
from service.identity import provider_sessions
from service.identity.providers.provider import ProviderDirectory, ProviderUnavailable
from service.identity.sessions import Sessions
from service.keys.foreign_keys import UNNAMED, audiences_of, check_times, time_in
from service.keys.jose import JwtRefused, VerifiedClaims
from service.model.handle import digest
from service.model.identity_provider import IdentityProvider
from service.protocol.errors import InvalidRequest, TemporarilyUnavailable
from service.store.stores import Stores

LOGOUT_TOKEN_TYPES = frozenset({UNNAMED, "jwt", "logout+jwt"})
"""`logout+jwt` is recommended, and many providers send another one (§2.4)."""

EVENT = "http://schemas.openid.net/event/backchannel-logout"

LONGEST_LIFE = 86400
"""Seconds after `iat` for which a token counts, however late its `exp` is: it is remembered as long."""

LONGEST = 255
"""Characters of `sub`, `sid` and `jti`."""


class LogoutToken(msgspec.Struct, frozen=True, kw_only=True):
    """The claims that count (§2.4); `sub` or `sid` is there, or both are."""

    sub: str | None
    sid: str | None
    jti: str
    issued_at: int
    expires_at: int
    """Not later than LONGEST_LIFE after it was issued."""


class ProviderLogout(msgspec.Struct, frozen=True, kw_only=True):
    directory: ProviderDirectory
    sessions: Sessions
    stores: Stores
    clock_skew: int
    emit: Emit

    async def end_sessions(self, provider: IdentityProvider, logout_token: str) -> None:
        """End the sessions that the token names, with all that ends with them; InvalidRequest if it does not hold.

        The token is consumed last: if the store fails before, the provider can send it again.
        """
        try:
            token = await self._read(provider, logout_token)
            ended = await self._end(provider, token)
            await self._use_up(provider, token)
        except JwtRefused as refused:
            self.emit(ProviderLogoutRefused(provider=provider.name, cause=str(refused)))
            raise InvalidRequest(f"the logout token: {refused}") from refused
        except ProviderUnavailable as failure:
            self.emit(ProviderLogoutRefused(provider=provider.name, cause=str(failure)))
            raise TemporarilyUnavailable("its signature cannot be verified now") from failure
        self.emit(ProviderLogoutReceived(provider=provider.name, sessions=ended))

    async def _read(self, provider: IdentityProvider, logout_token: str) -> LogoutToken:
        """Return the token if it passes all checks, and has not been used (§2.6)."""
        known = await self.directory.find(provider)
        claims = await self.directory.verify(known, logout_token, typ=LOGOUT_TOKEN_TYPES)
        check_times(claims, now=clock(), clock_skew=self.clock_skew)
        token = _read_claims(claims, provider)
        if token.expires_at <= clock() - self.clock_skew:
            raise JwtRefused("it was issued too long ago")
        key = _find_key(provider, token)
        (used,) = await self.stores.kv.read(self.stores.used_assertions.read(key))
        if used is not None:
            raise JwtRefused("it has been used before")
        return token

    async def _end(self, provider: IdentityProvider, token: LogoutToken) -> int:
        """Return how many sessions have ended; one that begins at this moment ends by itself."""
        sub, sid = token.sub, token.sid
        await provider_sessions.note_logout(
            self.stores, provider.name, sub=sub, sid=sid, at=token.issued_at
        )
        found = await provider_sessions.find_sessions(self.stores, provider.name, sub=sub, sid=sid)
        await self.sessions.end(*found)
        return len(found)

    async def _use_up(self, provider: IdentityProvider, token: LogoutToken) -> None:
        """Remember the `jti` in all replicas until the token expires."""
        ttl = token.expires_at - clock() + self.clock_skew
        used, key = self.stores.used_assertions, _find_key(provider, token)
        if not await self.stores.is_first_use(used, key, ttl=ttl):
            raise JwtRefused("it has been used before")


def _read_claims(claims: VerifiedClaims, provider: IdentityProvider) -> LogoutToken:
    """Return the claims, or raise JwtRefused with the first that is wrong (§2.6)."""
    audience, sub, sid, jti = (claims.get(name) for name in ("aud", "sub", "sid", "jti"))
    audiences = audiences_of(audience)
    events, issued, expires = claims.get("events"), time_in(claims, "iat"), time_in(claims, "exp")
    event = cast("dict[str, object]", events).get(EVENT) if isinstance(events, Mapping) else None
    problems = (
        (claims.get("iss") != provider.issuer, "another issuer made it"),
        (provider.client_id not in audiences, "it is for another client"),
        (issued is None or expires is None, "iat or exp is missing"),
        (not isinstance(event, dict), "its events do not have that of a back-channel logout"),
        ("nonce" in claims, "it has a nonce, as ID tokens have"),
        (not _is_name(jti), f"jti is not a text of 1 to {LONGEST} characters"),
        (sub is None and sid is None, "it names neither a user nor a session"),
        (sub is not None and not _is_name(sub), f"sub is not a text of 1 to {LONGEST} characters"),
        (sid is not None and not _is_name(sid), f"sid is not a text of 1 to {LONGEST} characters"),
    )
    for is_wrong, problem in problems:
        if is_wrong:
            raise JwtRefused(problem)
    return LogoutToken(
        sub=None if sub is None else str(sub),
        sid=None if sid is None else str(sid),
        jti=str(jti),
        issued_at=int(issued or 0),
        expires_at=int(min(expires or 0, (issued or 0) + LONGEST_LIFE)),
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST


def _find_key(provider: IdentityProvider, token: LogoutToken) -> str:
    """Return the key under which its use is remembered, which no assertion of the same issuer has."""
    return digest(f"\n\n{provider.issuer}\n{token.jti}")
