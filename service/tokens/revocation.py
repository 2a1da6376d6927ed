"""Revokes an access token with the tokens derived from it, or a whole authorization, as after a replay (RFC 7009 §2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from service.model.authorization import Authorization
from service.model.events import CodeReplayed, Emit, RefreshTokenReused
from service.model.handle import DIGEST_LENGTH
from service.protocol.errors import InvalidGrant
from service.store.records import was_won
from service.store.stores import Stores
from service.store.verbs import Command

SKEW = 60
"""Seconds for which a revocation outlives its JWT, because another replica's clock may be behind."""

Replay = type[CodeReplayed] | type[RefreshTokenReused]


class SingleUse(msgspec.Struct, frozen=True, kw_only=True):
    """The use of a code or refresh token, in the atomic step that makes the new tokens active."""

    swap: Command
    """Puts a marker in the place of the record."""
    attempt: str
    is_repeatable: bool = False
    """Whether every request wins that finds the record or a marker."""
    replay: Replay
    """The event if the request was not the first."""

    def was_won(self, before: bytes | None) -> bool:
        """Return whether the answer to the swap means that this request may have the tokens."""
        is_repeat = self.is_repeatable and before is not None
        return is_repeat or was_won(before, attempt=self.attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    stores: Stores
    emit: Emit
    now: Callable[[], int]

    async def end_authorization(self, authorization_id: str) -> None:
        """Revoke an authorization with all its tokens, delegated ones included."""
        await self.stores.kv.write(self.stores.authorizations.drop(authorization_id), durable=True)

    async def end_replayed(self, authorization: Authorization, replay: Replay) -> InvalidGrant:
        """Revoke all tokens, because either of two requests may be an attacker's; return the refusal (RFC 6749 §4.1.2)."""
        await self.end_authorization(authorization.id)
        self.emit(replay(client_id=authorization.client_id, subject=authorization.subject))
        what = "code" if replay is CodeReplayed else "refresh token"
        return InvalidGrant(f"the {what} has been used")

    async def revoke(self, selector: str, *names: str, expires_at: int) -> None:
        """Revoke the tokens of these names, and all that were derived from them.

        A token is revoked after those derived from it, so that an interrupted revocation can be
        repeated. Then the index is read again, for tokens that were derived in the meantime.
        """
        ended: set[str] = set()
        while left := [
            one for one in await self._find_descendants(selector, names) if one not in ended
        ]:
            ends = [self._end(selector, one, expires_at) for one in left]
            await self.stores.kv.write(*ends, durable=True)
            ended.update(left)

    async def _find_descendants(self, selector: str, names: Iterable[str]) -> list[str]:
        """Return these names and those of all tokens derived from them, the youngest first."""
        kv, derived = self.stores.kv, self.stores.delegated
        found, level = [*names], [*names]
        while level:
            asked = [derived.members(selector, name, now=self.now()) for name in level]
            answers: list[list[bytes]] = await kv.write(*asked)
            level = [name.decode() for members in answers for name in members]
            found += level
        return found[::-1]

    def _end(self, selector: str, name: str, expires_at: int) -> Command:
        if is_reference(name):
            return self.stores.access_tokens.drop(selector, name)
        return self.stores.revoked.put(True, selector, name, ttl=expires_at - self.now() + SKEW)


def is_reference(name: str) -> bool:
    """Return whether an index's name of a token is a handle's digest, and not the `jti` of a JWT."""
    return len(name) == DIGEST_LENGTH
