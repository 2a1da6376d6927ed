"""Ending what was issued: one access token with what was made from it, or a whole grant (RFC 7009 §2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from service.model.handle import DIGEST_LENGTH
from service.store.stores import Stores
from service.store.verbs import Command
from service.tokens.active import ActiveToken

SKEW = 60
"""Seconds for which a revocation outlives its JWT: another replica's clock may be behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """Revokes tokens and authorizations, at once and for every replica."""

    stores: Stores
    now: Callable[[], int]

    async def end_authorization(self, authorization_id: str) -> None:
        """Every token that came from it, delegated ones included, is inactive from here on."""
        await self.stores.kv.write(self.stores.authorizations.drop(authorization_id), durable=True)

    async def revoke(self, token: ActiveToken) -> None:
        """This access token and every one that was delegated from it."""
        await self.drop(token.selector, token.name, expires_at=token.expires_at)

    async def drop(self, selector: str, *names: str, expires_at: int) -> None:
        """The tokens of these names, and all that was made from them.

        The token goes last, so that a revocation that was cut short can be repeated; then what is
        being made from it meanwhile notices, and what was made just before is in the index by now.
        """
        ended: set[str] = set()
        while left := [one for one in await self._descent(selector, names) if one not in ended]:
            ends = [self._end(selector, one, expires_at) for one in left]
            await self.stores.kv.write(*ends, durable=True)
            ended.update(left)

    async def _descent(self, selector: str, names: Iterable[str]) -> list[str]:
        """These names and those of all that were made from them, the youngest first."""
        found, level = [*names], [*names]
        while level:
            level = await self._made_from(selector, level)
            found += level
        return found[::-1]

    def _end(self, selector: str, name: str, expires_at: int) -> Command:
        if is_reference(name):
            return self.stores.access_tokens.drop(selector, name)
        return self.stores.revoked.put(True, selector, name, ttl=expires_at - self.now() + SKEW)

    async def _made_from(self, selector: str, names: list[str]) -> list[str]:
        now, made = self.now(), self.stores.delegated
        found: list[list[bytes]] = await self.stores.kv.write(
            *[made.members(selector, name, now=now) for name in names]
        )
        return [name.decode() for members in found for name in members]


def is_reference(name: str) -> bool:
    """Whether an index's name for a token is a handle's digest, and not the `jti` of a JWT."""
    return len(name) == DIGEST_LENGTH
