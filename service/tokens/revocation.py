"""Revokes an access token with the tokens derived from it, or a whole authorization (RFC 7009 §2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from service.model.handle import DIGEST_LENGTH
from service.store.stores import Stores
from service.store.verbs import Command
from service.tokens.active import ActiveToken

SKEW = 60
"""Seconds for which a revocation outlives its JWT, because another replica's clock may be behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    stores: Stores
    now: Callable[[], int]

    async def end_authorization(self, authorization_id: str) -> None:
        """Revoke an authorization with all its tokens, delegated ones included."""
        await self.stores.kv.write(self.stores.authorizations.drop(authorization_id), durable=True)

    async def revoke(self, token: ActiveToken) -> None:
        """Revoke this access token and every one that was derived from it."""
        await self.drop(token.selector, token.name, expires_at=token.expires_at)

    async def drop(self, selector: str, *names: str, expires_at: int) -> None:
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
        found, level = [*names], [*names]
        while level:
            level = await self._find_children(selector, level)
            found += level
        return found[::-1]

    def _end(self, selector: str, name: str, expires_at: int) -> Command:
        if is_reference(name):
            return self.stores.access_tokens.drop(selector, name)
        return self.stores.revoked.put(True, selector, name, ttl=expires_at - self.now() + SKEW)

    async def _find_children(self, selector: str, names: list[str]) -> list[str]:
        now, made = self.now(), self.stores.delegated
        found: list[list[bytes]] = await self.stores.kv.write(
            *[made.members(selector, name, now=now) for name in names]
        )
        return [name.decode() for members in found for name in members]


def is_reference(name: str) -> bool:
    """Return whether an index's name of a token is a handle's digest, and not the `jti` of a JWT."""
    return len(name) == DIGEST_LENGTH
