"""Locks the codes of an account for longer and longer while they are guessed (NIST SP 800-63B §3.2.2)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from service.clock import clock
from service.model.handle import digest
from service.store import verbs
from service.store.keyvalue import KeyValue
from service.store.records import Index
from service.store.verbs import Command, Read, steps

EVERY = 10
"""Wrong codes in a row, of any method and from anywhere, from one lock to the next."""

MOST = 100
"""Wrong codes in a row from which on every lock is a long one."""

DAY = 24 * 60 * 60
LONG = 30 * DAY

MOST_PLACES = 10_000
"""Places whose guesses at one account are forgotten at once."""


class Guesses(msgspec.Struct, frozen=True, kw_only=True):
    """Counts wrong codes of an account until a right proof of any of its factors; sending any needs the first factor.

    Codes that somebody else sends for the account are counted for each place that sends some, a client for example.
    """

    kv: KeyValue
    prefix: str
    lockout: int
    """Seconds of the first lock."""

    @property
    def locks(self) -> Sequence[int]:
        """Seconds of each lock: twice as long as the one before, a day at most, and a long one at last."""
        doubled = [self.lockout << nth for nth in range(MOST // EVERY - 1)]
        return [*[min(seconds, max(self.lockout, DAY)) for seconds in doubled], LONG]

    async def take(self, account: str, place: str = "") -> int:
        """Count an attempt before it is judged; return how many there are in a row, 0 while it must not be judged."""
        key = self._key(account, place)
        taken = verbs.count_guess(key, clock(), every=EVERY, locks=self.locks, kept=LONG)
        count, *_ = await self.kv.write(taken, *self._note(account, place))
        return int(count)

    def _note(self, account: str, place: str) -> list[Command]:
        """Return what notes the place, so that an operator's `forget_everywhere` finds it as long as its guesses count."""
        ends = clock() + LONG + self.locks[-1]
        return [self._places.add(digest(account), place, expires_at=ends)] if place else []

    @property
    def _places(self) -> Index:
        return Index(self.prefix, "fgp", MOST_PLACES)

    def find_lock(self, count: int) -> int:
        """Return the seconds for which an attempt locks that was this one in the row; 0 if it does not."""
        nth, rest = divmod(count, EVERY)
        return 0 if rest or not nth else self.locks[min(nth, len(self.locks)) - 1]

    async def find_locked_until(self, sub: str) -> int | None:
        """Return the end of the present lock; None without a lock."""
        (found,) = await self.kv.read(Read(self._key(sub), bytes.decode))
        locked_until = int((found or "0 0").split()[1])
        return locked_until if clock() < locked_until else None

    def drop(self, account: str, place: str = "") -> Command:
        """Return what begins anew, after a right proof or by the operator."""
        return verbs.drop(self._key(account, place))

    async def forget(self, account: str, place: str = "") -> None:
        """Begin anew, in a round trip of its own."""
        await self.kv.write(self.drop(account, place))

    async def forget_everywhere(self, account: str) -> None:
        """Begin anew for every place."""
        owner, noted = digest(account), self._places
        (places,) = await self.kv.read_members(noted.last(owner, count=MOST_PLACES))
        for some in steps([*[self._key(account, one) for one in places], noted.key(owner)]):
            await self.kv.write(*map(verbs.drop, some))

    def _key(self, account: str, place: str = "") -> str:
        of_place = f"{place} {account}" if place else account
        return f"{self.prefix}:{{{digest(of_place)}}}:fg"
