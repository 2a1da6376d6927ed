"""Changes that an operator makes to the schedule of the keys in the store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from service.keys.schedule import LEAD, Keys, find_signing_key, find_successor
from service.keys.stored_keys import StoredKeys


class CannotChangeKeys(Exception):
    """The keys cannot be changed like that; the message says why."""


@dataclass(frozen=True, slots=True)
class ManualRotation:
    """Each change is one compare-and-swap, and every replica follows within seconds."""

    stored: StoredKeys

    async def announce_next(self) -> Keys:
        """Announce a successor for every algorithm now, unless one is announced already."""
        return await self.stored.change(
            partial(self._rotate, lead=self.stored.policy().announce_before)
        )

    async def sign_with_next(self) -> Keys:
        """Let the successor of every algorithm sign as soon as every replica publishes it."""
        return await self.stored.change(partial(self._rotate, lead=LEAD))

    async def retire(self, kid: str) -> Keys:
        """Take a key out of use; a key that signs stops when its successor begins, which is soon."""
        return await self.stored.change(partial(self._retire, kid=kid))

    async def _rotate(self, keys: Keys, now: int, *, lead: int) -> Keys:
        if not keys:
            raise CannotChangeKeys(
                "there are no keys yet: the service makes them when it first starts"
            )
        for alg in self.stored.policy().algorithms:
            keys = await self._add_successor(keys, now, alg=alg, sign_from=now + lead)
        return keys

    async def _retire(self, keys: Keys, now: int, *, kid: str) -> Keys:
        key = next((key for key in keys if key.kid == kid), None)
        if key is None:
            raise CannotChangeKeys(f"no key has the key id {kid}")
        if key.retired_at is not None:
            raise CannotChangeKeys(f"the key {kid} is retired already")
        if (
            key is find_signing_key(keys, key.alg, now)
            and key.alg in self.stored.policy().algorithms
        ):
            return await self._add_successor(keys, now, alg=key.alg, sign_from=now + LEAD)
        return tuple(replace(key, retired_at=now) if each is key else each for each in keys)

    async def _add_successor(self, keys: Keys, now: int, *, alg: str, sign_from: int) -> Keys:
        """Add a key for the algorithm that begins to sign then, or let the one that is announced begin."""
        waiting = find_successor(keys, alg, now)
        if waiting is None:
            return (*keys, await self.stored.vault.make(alg, sign_from=sign_from, now=now))
        sooner = replace(waiting, sign_from=min(waiting.sign_from, sign_from))
        return tuple(sooner if key is waiting else key for key in keys)
