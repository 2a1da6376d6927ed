"""Verifies passwords, in fair turns and at the same cost for every user name (RFC 9106, OWASP ASVS 6.3.8)."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter, deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from time import monotonic
from weakref import WeakValueDictionary

import structlog

from service.identity.hashing import can_verify, matches
from service.model.password_hash import (
    USUAL,
    PasswordHash,
    RefusalCost,
    UnusableHash,
    parse_hash,
)
from service.model.registry import LiveRegistry
from service.model.user import User
from service.protocol.errors import TemporarilyUnavailable, TooManyRequests

AT_ONCE = min(os.cpu_count() or 1, 4)
"""Hashes computed at once in one process; each takes a core and 19 MiB."""

REMEMBERED = 100

PER_NETWORK = 100
"""Requests of one network that are worked on or wait; one more is refused at once."""

PATIENCE = 5.0
"""Seconds to wait for a turn."""

log = structlog.stdlib.get_logger(__name__)


class FairTurns:
    """Limits concurrent hashing per network, so that one network cannot block others.

    A request gets its turn after at most one request of every other network that waits, too.
    """

    def __init__(self, turns: int = AT_ONCE) -> None:
        self._turns = asyncio.Semaphore(turns)
        self._places = Counter[str]()
        self._next = WeakValueDictionary[str, asyncio.Lock]()
        """Held by the one request of each network that waits for a turn, before its others do."""

    @asynccontextmanager
    async def place(self, network: str) -> AsyncGenerator[None]:
        """Take one of the network's places; TooManyRequests where all are taken."""
        if self._places[network] >= PER_NETWORK:
            raise TooManyRequests("too many people sign in there at once")
        self._places[network] += 1
        try:
            yield
        finally:
            self._places[network] -= 1
            if not self._places[network]:
                del self._places[network]

    @asynccontextmanager
    async def turn(self, network: str) -> AsyncGenerator[None]:
        """Wait for a turn; TemporarilyUnavailable where none comes in time."""
        first = self._next.setdefault(network, asyncio.Lock())
        try:
            async with asyncio.timeout(PATIENCE), first:
                await self._turns.acquire()
        except TimeoutError as error:
            raise TemporarilyUnavailable("too many people sign in at once") from error
        try:
            yield
        finally:
            self._turns.release()


class Passwords:
    """Verifies passwords off the event loop.

    Without a hash to compare with, the slowest user's is computed in vain: of the registry's users,
    and of those of another system as they are met, here or at any replica.
    """

    def __init__(self, registry: LiveRegistry) -> None:
        self.refusal_times = deque[float](maxlen=REMEMBERED)
        """Seconds that the last refusals at the full cost took in this process, or one at another replica."""
        self.measured: float | None = None
        """The last of them that this process has seen itself."""
        self.has_learned = False
        self.met: PasswordHash | None = None
        """The slowest hash that this process has met, if it is slower than all of the registry's."""
        self._told: PasswordHash | None = None
        """Nobody's hash, like the slowest one that other replicas have met."""
        self._registry = registry
        self._users: tuple[User, ...] | None = None
        self._listed = USUAL

    async def verifies(self, password: str, stored: str | None) -> bool:
        """Return whether the hash is the password's; without a hash it takes as long."""
        known = usable_hash(stored)
        if known is not None:
            self._meet(known)
        fits = await asyncio.to_thread(matches, password, known or self.decoy)
        return fits and known is not None

    async def measure(self, before: float) -> float:
        """Compute the decoy where no refusal has shown yet how long one takes; return the seconds for it.

        `before` are the seconds that the sign-in has taken so far. The first sign-in of a process waits for this whether
        the user exists or not, so that its time tells nothing, and the refusals after it take as long.
        """
        if self.refusal_times:
            return 0
        began = monotonic()
        await asyncio.to_thread(matches, "", self.decoy)
        took = monotonic() - began
        self._note(before + took)
        return took

    def has_full_cost(self, stored: str | None) -> bool:
        """Return whether comparing with this hash takes as long as comparing with the decoy."""
        known = usable_hash(stored)
        return known is None or known.shape == self.decoy.shape

    async def even_out(self, took: float, *, full_cost: bool) -> None:
        """Remember a refusal at the full cost; let any other take as long as one of them."""
        if full_cost:
            self._note(took)
        elif self.refusal_times:
            # One of them and not their mean, which nothing that is computed takes.
            await asyncio.sleep(random.choice(self.refusal_times) - took)  # noqa: S311 - no secret

    def learn_costs(self, users: Iterable[User]) -> None:
        """Let refusals of unknown users take as long as the slowest hash of these, too."""
        self.has_learned = True
        for user in users:
            known = usable_hash(user.password)
            if known is not None:
                self._meet(known)

    def expect(self, cost: RefusalCost) -> None:
        """Let refusals cost as much as they do at other replicas."""
        if cost.seconds is not None and self.measured is None:
            self.refusal_times.clear()
            self.refusal_times.append(min(cost.seconds, PATIENCE))
        told = usable_hash(cost.decoy)
        if told is not None:
            self._clear_shorter_times(told)
            self._told = _slower(told, self._told)

    @property
    def decoy(self) -> PasswordHash:
        """The slowest hash."""
        return _slower(_slower(self._slowest_listed(), self._told), self.met)

    def _note(self, took: float) -> None:
        self.refusal_times.append(took)
        self.measured = took

    def _slowest_listed(self) -> PasswordHash:
        users = self._registry.current.users
        if users is not self._users:
            self._users = users
            known = filter(None, (usable_hash(user.password) for user in users))
            self._listed = max(known, key=lambda each: each.work, default=USUAL)
        return self._listed

    def _meet(self, known: PasswordHash) -> None:
        if known.work > self._slowest_listed().work:
            self._clear_shorter_times(known)
            self.met = _slower(known, self.met)

    def _clear_shorter_times(self, slow: PasswordHash) -> None:
        if slow.work > self.decoy.work:
            self.refusal_times.clear()


def _slower(one: PasswordHash, other: PasswordHash | None) -> PasswordHash:
    return one if other is None or other.work <= one.work else other


def usable_hash(stored: str | None) -> PasswordHash | None:
    """Return the stored hash in its parts; None if it is missing or cannot be verified."""
    if not stored:
        return None
    try:
        known = parse_hash(stored)
    except UnusableHash as error:
        log.warning("a password hash cannot be used", reason=str(error))
        return None
    if not can_verify(known):
        log.error("a password hash needs a package that is not installed", package=known.scheme)
        return None
    return known
