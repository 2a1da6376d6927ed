"""Verifies passwords, in fair turns and at the same cost for every user name (RFC 9106, OWASP ASVS 6.3.8)."""

from __future__ import annotations

import asyncio
import os
import random
import unicodedata
from collections import Counter, deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from service.model.registry import LiveRegistry
from service.model.user import PASSWORD_COST, User, hashing_work
from service.protocol.errors import TemporarilyUnavailable, TooManyRequests

MAX_PASSWORD = 200
AT_ONCE = min(os.cpu_count() or 1, 4)
"""Hashes computed at once in one process; each takes a core and 19 MiB."""

REMEMBERED = 100

PER_NETWORK = 100
"""Requests of one network that are worked on or wait; one more is refused at once."""

PATIENCE = 5.0
"""Seconds to wait for a turn."""

_ARGON2ID = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_SALT_AND_HASH = "HQpv9uCcHMi675yh+cTvQQ$V3kjvBuxbAkNcPX/1fjJomSXGtfWQ7zhI+BUTpQbHlY"
"""Of a password that is lost."""


def hash_password(password: str) -> str:
    """Return the Argon2id hash in PHC form, at the usual cost (RFC 9106 §4)."""
    return _ARGON2ID.hash(password)


def is_plain_text(text: str, *, longest: int) -> bool:
    return len(text) <= longest and not any(unicodedata.category(c) in {"Cc", "Cs"} for c in text)


class FairTurns:
    """Gives out a few turns at hashing: many requests of one network wait for themselves alone.

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

    Without a hash to compare with, a decoy is compared that costs as much as the slowest user's:
    of the registry's users, and of those of the operator's own user store as they are met.
    """

    def __init__(self, registry: LiveRegistry) -> None:
        self.refusal_times = deque[float](maxlen=REMEMBERED)
        """Seconds that the last refusals at the full cost took in this process."""
        self._registry = registry
        self._users: tuple[User, ...] = ()
        self._cost = PASSWORD_COST

    async def verifies(self, password: str, stored: str | None) -> bool:
        """Return whether the hash is the password's; without a hash it takes as long."""
        known = _usable_hash(stored)
        if known is not None:
            self._cost = max(self.decoy_cost, cost_of(known), key=hashing_work)
        decoy = f"$argon2id$v=19${self.decoy_cost}${_SALT_AND_HASH}"
        matches = await asyncio.to_thread(_matches, password, known or decoy)
        return matches and known is not None

    def has_full_cost(self, stored: str | None) -> bool:
        """Return whether comparing with this hash takes as long as comparing with the decoy."""
        known = _usable_hash(stored)
        return known is None or cost_of(known) == self.decoy_cost

    async def even_out(self, took: float, *, full_cost: bool) -> None:
        """Remember a refusal at the full cost; let any other take as long as one of them."""
        if full_cost:
            self.refusal_times.append(took)
        elif self.refusal_times:
            # One of them and not their mean, which nothing that is computed takes.
            await asyncio.sleep(random.choice(self.refusal_times) - took)  # noqa: S311 - no secret

    @property
    def decoy_cost(self) -> str:
        """The cost of the slowest hash, as PHC strings write it."""
        users = self._registry.current.users
        if users is not self._users:
            self._users = users
            costs = filter(hashing_work, (cost_of(user.password or "") for user in users))
            self._cost = max(costs, key=hashing_work, default=PASSWORD_COST)
        return self._cost


def _usable_hash(stored: str | None) -> str | None:
    return stored if stored is not None and stored.startswith("$argon2id$") else None


def cost_of(stored: str) -> str:
    """Return the parameters of an Argon2id hash, or an empty text (RFC 9106 §3.1)."""
    parts = stored.split("$")
    return parts[3] if len(parts) > 3 else ""  # noqa: PLR2004 - `$argon2id$v=19$m=…,t=…,p=…$…`


def _matches(password: str, stored: str) -> bool:
    try:
        return _ARGON2ID.verify(stored, password)
    except (InvalidHashError, VerificationError):
        return False
