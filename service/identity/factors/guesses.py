"""Locks the codes of an account for longer and longer while they are guessed (NIST SP 800-63B §3.2.2)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from service.clock import clock
from service.model.handle import digest
from service.store import verbs
from service.store.keyvalue import KeyValue
from service.store.verbs import Read

EVERY = 10
"""Wrong codes in a row, of any method and from anywhere, from one lock to the next."""

MOST = 100
"""Wrong codes in a row from which on every lock is a long one."""

DAY = 24 * 60 * 60
LONG = 30 * DAY


class Guesses(msgspec.Struct, frozen=True, kw_only=True):
    """Counts wrong codes of an account until a right proof of any of its factors; sending any needs the first factor."""

    kv: KeyValue
    prefix: str
    lockout: int
    """Seconds of the first lock."""

    @property
    def locks(self) -> Sequence[int]:
        """Seconds of each lock: twice as long as the one before, a day at most, and a long one at last."""
        doubled = [self.lockout << nth for nth in range(MOST // EVERY - 1)]
        return [*[min(seconds, max(self.lockout, DAY)) for seconds in doubled], LONG]

    async def take(self, sub: str) -> int:
        """Count an attempt before it is judged; return how many there are in a row, 0 while it must not be judged."""
        taken = verbs.count_guess(self._key(sub), clock(), every=EVERY, locks=self.locks, kept=LONG)
        (count,) = await self.kv.write(taken)
        return int(count)

    def find_lock(self, count: int) -> int:
        """Return the seconds for which an attempt locks that was this one in the row; 0 if it does not."""
        nth, rest = divmod(count, EVERY)
        return 0 if rest or not nth else self.locks[min(nth, len(self.locks)) - 1]

    async def find_locked_until(self, sub: str) -> int | None:
        """Return the end of the present lock; None without a lock."""
        (found,) = await self.kv.read(Read(self._key(sub), bytes.decode))
        locked_until = int((found or "0 0").split()[1])
        return locked_until if clock() < locked_until else None

    async def forget(self, sub: str) -> None:
        """Begin anew, after a right proof or by the operator."""
        await self.kv.write(verbs.drop(self._key(sub)))

    def _key(self, sub: str) -> str:
        return f"{self.prefix}:{{{digest(sub)}}}:fg"
