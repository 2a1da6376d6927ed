"""What an operator may do to the schedule of the keys in the store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from service.keys.following import LEAD
from service.keys.rotation import StoredKeys
from service.keys.schedule import Keys, NewKey, signing_key, successor


class NotPossible(Exception):
    """The keys cannot be changed like that; the message says why."""


@dataclass(frozen=True, slots=True)
class KeysByHand:
    """Each change is one compare-and-swap, and every replica follows at its next look."""

    stored: StoredKeys

    async def announce_next(self) -> Keys:
        """Announce a successor for every algorithm now; one that waits already is enough."""
        return await self.stored.change(
            partial(self._rotated, lead=self.stored.policy().announce_before)
        )

    async def sign_with_next(self) -> Keys:
        """Let the successor of every algorithm sign, as soon as every replica publishes it."""
        return await self.stored.change(partial(self._rotated, lead=LEAD))

    async def retire(self, kid: str) -> Keys:
        """Take a key out of use; one that signs stops when its successor begins, which is made to be soon."""
        return await self.stored.change(partial(self._retired, kid=kid))

    async def _rotated(self, keys: Keys, now: int, *, lead: int) -> Keys:
        if not keys:
            raise NotPossible("there are no keys yet: the service makes them when it first starts")
        for alg in self.stored.policy().algorithms:
            keys = await self._with_successor(keys, now, alg=alg, sign_from=now + lead)
        return keys

    async def _retired(self, keys: Keys, now: int, *, kid: str) -> Keys:
        key = next((key for key in keys if key.kid == kid), None)
        if key is None:
            raise NotPossible(f"no key has the key id {kid}")
        if key.retired_at is not None:
            raise NotPossible(f"the key {kid} is retired already")
        if key is signing_key(keys, key.alg, now) and key.alg in self.stored.policy().algorithms:
            return await self._with_successor(keys, now, alg=key.alg, sign_from=now + LEAD)
        return tuple(replace(key, retired_at=now) if each is key else each for each in keys)

    async def _with_successor(self, keys: Keys, now: int, *, alg: str, sign_from: int) -> Keys:
        """The keys with one for the algorithm that begins to sign then, or sooner."""
        waiting = successor(keys, alg, now)
        if waiting is None:
            return (*keys, await self.stored.vault.make(NewKey(alg=alg, sign_from=sign_from), now))
        sooner = replace(waiting, sign_from=min(waiting.sign_from, sign_from))
        return tuple(sooner if key is waiting else key for key in keys)
