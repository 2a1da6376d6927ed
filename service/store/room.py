"""Limits the part of Redis that unauthenticated callers and dynamically registered clients may fill.

What is kept is counted in bytes and minutes: what stays for an hour takes sixty times the room of what stays for a minute.
With one window of a minute for all, twice a limit is there at most at any moment.
"""

from __future__ import annotations

import msgspec

from service.clock import clock
from service.config.schema.server import Limits
from service.model.client import Client
from service.model.handle import digest
from service.protocol.errors import TooManyRequests
from service.store import rate_limit, verbs
from service.store.keyvalue import KeyValue
from service.store.memory import LOOK_EVERY, StoreMemory
from service.store.rate_limit import RateLimit, count_in_window, networks_of, site_of
from service.store.verbs import Command

KIB = 1024

UNIT = 2 * KIB * 15
"""Bytes and minutes of one request that waits for its user: a KiB of parameters is less than two when it is sealed."""

OVERHEAD = 100
"""Bytes that Redis needs for a key besides its name and value."""

MARKER = 200
"""Bytes of a key that says that something has been used."""

UNKNOWN = 64 * KIB * KIB
"""Bytes for all those clients together where Redis has no `maxmemory`, or does not tell it."""

SHARE, SHARE_OF_ONE = 20, 10
"""All those clients together have a twentieth of `maxmemory`, and one client or place has a tenth of that."""

DAY = 86400

USED_UP = "clients that registered themselves have used up their part of the store"


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """Each network has a limit, each confidential client that registered itself, and all of these clients together.

    A public client has none of its own: anybody could use it up. Nobody uses up the limit of all from one place.
    """

    parked: RateLimit
    """Of each network, in bytes and minutes."""
    limits: Limits
    memory: StoreMemory

    async def take_for_request(self, size: int, *, address: str) -> None:
        """Count a request that waits for its user in a browser, by the bytes of its parameters."""
        await self.parked.count_network(address, (1 + size // KIB) * UNIT)

    async def take(self, client: Client, *writes: Command, address: str) -> None:
        """Count a request that such a client is about to have written; those of others are not counted."""
        if client.is_anybodys:
            await self._take(client, sum(map(_cost_of, writes)), address, at_least=UNIT)

    async def take_for(self, client: Client, size: int, *, seconds: int, address: str) -> None:
        """Count so many bytes that are kept for a time for such a client."""
        await self._take(client, _cost(size, seconds), address)

    async def _take(self, client: Client, cost: int, address: str, *, at_least: int = 0) -> None:
        """Raise TooManyRequests where no room is left; the network comes first, so that it takes none from others."""
        await self.parked.count_network(address, max(cost, at_least))
        if client.dynamically_registered:
            await self._take_from_clients(cost, client, address)

    async def _take_from_clients(self, cost: int, client: Client, address: str) -> None:
        if self.memory.is_nearly_full:
            raise TooManyRequests("the store is nearly full", retry_after=LOOK_EVERY)
        kv, begin = self.parked.kv, f"{self.parked.prefix}:{{room}}:rl"
        total = self.limits.parked_bytes or self.memory.limit // SHARE or UNKNOWN
        own = self.limits.parked_bytes_per_client or total // SHARE_OF_ONE
        limits = {f"{begin}:all": total, f"{begin}:{digest(site_of(address))}": own}
        if not client.is_public:
            limits[f"{begin}:{digest(client.client_id)}"] = own
        await count_in_window(kv, limits, cost, seconds=rate_limit.MINUTE, problem=USED_UP)


class RegistrationRoom(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds what is kept of clients where anyone may register them: each network in a day, each place and all in a lifetime."""

    kv: KeyValue
    prefix: str
    limits: Limits
    memory: StoreMemory
    lifetime: int

    async def take(self, size: int, *, address: str) -> None:
        """Count the bytes of a registration, or raise TooManyRequests; the network comes first."""
        if self.memory.is_nearly_full:
            raise TooManyRequests("the store is nearly full", retry_after=LOOK_EVERY)
        per_day = self.limits.registrations_per_day
        if per_day is not None:
            begin = f"{self.prefix}:{{{digest(site_of(address))}}}:rl:registered"
            networks = networks_of(address).items()
            limits = {f"{begin}:{digest(one)}": per_day * KIB * share for one, share in networks}
            await count_in_window(self.kv, limits, max(size, KIB), seconds=DAY)
        total = self.limits.registered_bytes or self.memory.limit // 10 or 2 * UNKNOWN
        of_all, of_place = self._counters(address)
        limits = {of_all: total, of_place: total // SHARE_OF_ONE}
        await count_in_window(self.kv, limits, size, seconds=self.lifetime, problem=USED_UP)

    async def give_back(self, size: int, *, taken_at: int, address: str) -> None:
        """Take off the bytes of a registration that was deleted, if the present window has counted them.

        The place is that of the deletion. All places together never have more than they have registered.
        """
        window = clock() // self.lifetime
        if taken_at // self.lifetime == window:
            keys = [f"{counter}:{window}" for counter in self._counters(address)]
            await self.kv.write(verbs.uncount_each(keys, size))

    def _counters(self, address: str) -> tuple[str, str]:
        """Return the counters of all registrations, and of those from this place."""
        begin = f"{self.prefix}:{{room}}:rl:registered"
        return begin, f"{begin}:{digest(site_of(address))}"


def network_limit(limits: Limits) -> int | None:
    """Return the bytes and minutes of a network; None for no limit."""
    per_minute = limits.parked_requests_per_minute
    return None if per_minute is None else per_minute * UNIT


def _cost_of(write: Command) -> int:
    """Return the bytes and minutes of a key that is written with its time to live."""
    _, key, value, _, seconds, *_ = write
    return _cost(len(str(key)) + len(str(value)) + OVERHEAD, int(seconds))


def _cost(size: int, seconds: int) -> int:
    return size * max(seconds, rate_limit.MINUTE) // rate_limit.MINUTE
