"""Shares the slowest hash cost between replicas, so that timing does not reveal which users exist (OWASP ASVS 6.3.8)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from service.clock import clock
from service.identity.passwords import Passwords
from service.identity.users import Directory
from service.model.password_hash import RefusalCost, UnusableHash, parse_hash
from service.model.user import User, UsersUnavailable
from service.store.stores import PASSWORDS, Stores
from service.store.verbs import Read

SAMPLE = 200
"""Users of another system whose hashes are looked at once in each process."""

LIFETIME = 90 * 86400
"""Seconds for which refusals take as long as a hash that no process has met since."""

SHARE_EVERY = 86400
"""Seconds after which a process writes again how long another system takes, which changes."""


class RefusalCosts:
    """The cost of the slowest hash that any replica has met; or how long another system takes to refuse a password.

    It is read before a password is judged, and written once by each process that meets what is as slow; the time of
    another system, which may get quicker, once a day by each process that measures it. It is
    bounded as every hash is (`MAX_WORK`, `MAX_MEMORY`), and says nothing of anybody's password.
    """

    def __init__(self, *, users: Directory, passwords: Passwords, stores: Stores) -> None:
        self._users, self._passwords, self._stores = users, passwords, stores
        self._known, self._written = RefusalCost(), RefusalCost()
        """The value that the store held last, and the one that this process wrote last."""
        self._written_at = 0

    @property
    def reading(self) -> Read[RefusalCost]:
        """The read of what the replicas share, for `learn`."""
        return self._stores.refusal_costs.read(PASSWORDS)

    async def learn(self, stored: RefusalCost | None) -> None:
        """Let the next refusal cost as much as any; look once at some hashes of another system, too."""
        known = stored or RefusalCost()
        if known != self._known:
            self._passwords.expect(known)
        self._known = known
        if not self._passwords.has_learned and not self._users.verifies_passwords:
            await self._look_at_some()
        await self.share()

    async def share(self) -> None:
        """Tell the other replicas what was met here."""
        mine = self._find_news()
        if mine is not None:
            write = self._stores.refusal_costs.put(mine, PASSWORDS, ttl=LIFETIME)
            await self._stores.kv.write(write)
            self._known = self._written = mine
            self._written_at = clock()

    def _find_news(self) -> RefusalCost | None:
        """Return what was met here, unless the store has what is slower, or the same by this process."""
        passwords, known = self._passwords, self._known
        if self._users.verifies_passwords:
            is_due = known.seconds is None or clock() - self._written_at >= SHARE_EVERY
            took = passwords.measured if is_due else None
            return None if took is None else RefusalCost(seconds=took)
        if passwords.met is None:
            return None
        mine = RefusalCost(decoy=passwords.met.write_decoy())
        is_slower = passwords.met.work > _work_of(known.decoy)
        return mine if is_slower or known == mine != self._written else None

    async def _look_at_some(self) -> None:
        some: Sequence[User] = ()
        with suppress(NotImplementedError, UsersUnavailable):
            some = await self._users.list_users("", SAMPLE)
        self._passwords.learn_costs(some)


def _work_of(decoy: str | None) -> float:
    """Return what a shared hash costs, also where the package is missing that could compute it."""
    with suppress(UnusableHash):
        return parse_hash(decoy or "").work
    return 0
