"""Keeps logout deliveries in the store, and makes those that are due as long as the process runs.

Any replica may take a delivery, and only one at a time does: its own, and those that others left.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, Never
from urllib.parse import urlsplit

import structlog

from service.clients.directory import Clients
from service.model.session import LogoutDelivery
from service.store.keyvalue import StoreUnavailable
from service.store.stores import LOGOUT, Stores

log = structlog.stdlib.get_logger(__name__)

LEASE_MARGIN = 5
"""Seconds by which a lease is longer than a request may take: for the token and the store."""

INTERVAL = 1
"""Seconds until the queue is read again, for what other processes have added or what is due again."""

AT_ONCE = 20
"""Attempts that run at the same time."""

PER_HOST = 2
"""Those at one host of dynamically registered clients (RFC 7591 §5)."""

LOOK_AHEAD = 1000
"""Deliveries that are searched for those that there is a place for."""

SET_BACK = 30
"""Seconds for which so many without a place are deferred, so that those behind them are found."""


@dataclass(slots=True, kw_only=True)
class LogoutQueue:
    """Takes due deliveries under a lease; one that its taker did not return is due again after it.

    So every client gets at least one logout token, whichever process stops at whichever moment.
    """

    stores: Stores
    lease: int
    """Seconds; longer than an attempt can take."""
    waiting: int = 0
    """The number of deliveries when `find_due` was last called."""

    async def find_due(self, at_most: int) -> tuple[LogoutDelivery, ...]:
        """Return deliveries whose time has come, the earliest first; they stay in the queue."""
        queue = self.stores.logout_queue
        due, self.waiting = await self.stores.kv.write(queue.due(at_most=at_most), queue.count())
        return await self._read([delivery_id.decode() for delivery_id in due])

    async def take(self, due: Collection[str]) -> tuple[LogoutDelivery, ...]:
        """Lease those of these ids that no other process has."""
        queue, leases = self.stores.logout_queue, self.stores.logout_leases
        answers = await self.stores.kv.write(
            *[leases.put_new(True, LOGOUT, one, ttl=self.lease) for one in due],
            *[queue.defer(one, seconds=self.lease) for one in due],
        )
        return await self._read([one for one, won in zip(due, answers, strict=False) if won])

    async def defer(self, due: Iterable[LogoutDelivery], *, seconds: int) -> None:
        """Make deliveries that nobody has taken due again after some seconds."""
        queue = self.stores.logout_queue
        await self.stores.kv.write(*[queue.defer(one.id, seconds=seconds) for one in due])

    async def give_back(self, delivery: LogoutDelivery, *, seconds: int = 0) -> None:
        """Return a delivery that was taken."""
        await self.stores.kv.write(
            self.stores.logout_deliveries.rewrite(delivery, LOGOUT, delivery.id),
            self.stores.logout_queue.add(delivery.id, seconds=seconds),
            self.stores.logout_leases.drop(LOGOUT, delivery.id),
        )

    async def remove(self, delivery_id: str) -> None:
        """Forget a delivery that has arrived, or never will."""
        await self.stores.kv.write(
            self.stores.logout_deliveries.drop(LOGOUT, delivery_id),
            self.stores.logout_queue.remove(delivery_id),
            self.stores.logout_leases.drop(LOGOUT, delivery_id),
        )

    async def _read(self, ids: Collection[str]) -> tuple[LogoutDelivery, ...]:
        """Return the deliveries of these ids, and forget the ids of those that have expired."""
        deliveries = self.stores.logout_deliveries
        found = await self.stores.kv.read(*[deliveries.read(LOGOUT, one) for one in ids])
        for one, delivery in zip(ids, found, strict=True):
            if delivery is None:
                await self.remove(one)
        return tuple(delivery for delivery in found if delivery is not None)


class Place(NamedTuple):
    """The host of an attempt."""

    host: str
    dynamically_registered: bool


@dataclass(slots=True, kw_only=True)
class LogoutDeliveries:
    """Makes the attempts that are due, some at once; no logout ever waits for them.

    A host that hangs never takes all places for attempts.
    """

    queue: LogoutQueue
    attempt: Callable[[LogoutDelivery], Awaitable[None]]
    clients: Clients
    wake: asyncio.Event
    """Set when a session has ended here, or an attempt is over: then the queue is read at once."""
    _running: dict[asyncio.Task[None], Place] = field(
        default_factory=dict[asyncio.Task[None], Place]
    )

    async def run(self) -> Never:
        """Go on until the task is cancelled; deliveries that are taken then are given back."""
        async with asyncio.TaskGroup() as attempts:
            while True:
                self.wake.clear()
                for delivery, place in await self._take_due():
                    attempt = attempts.create_task(self._attempt(delivery))
                    self._running[attempt] = place
                    attempt.add_done_callback(self._make_room)
                with suppress(TimeoutError):
                    async with asyncio.timeout(INTERVAL):
                        await self.wake.wait()

    async def _take_due(self) -> list[tuple[LogoutDelivery, Place]]:
        room = AT_ONCE - len(self._running)
        if room == 0:
            return []
        try:
            chosen = await self._choose(room)
            return [(taken, chosen[taken.id]) for taken in await self.queue.take(chosen)]
        except StoreUnavailable:
            return []  # readiness and metrics show it
        except Exception:
            log.exception("logout deliveries cannot be read")
            return []

    async def _choose(self, room: int) -> dict[str, Place]:
        """Return the first ones that there is a place for, with their places."""
        due, chosen = await self._find_due(room)
        if len(chosen) < room == len(due):
            due, chosen = await self._find_due(LOOK_AHEAD)
            if len(chosen) < room and len(due) == LOOK_AHEAD:
                without_place = [one for one in due if one.id not in chosen]
                await self.queue.defer(without_place, seconds=SET_BACK)
        return chosen

    async def _find_due(self, at_most: int) -> tuple[Sequence[LogoutDelivery], dict[str, Place]]:
        """Return due deliveries, and the places of those that there is room for, by their ids."""
        due = await self.queue.find_due(at_most)
        taken = Counter(self._running.values())
        known, chosen = dict[str, Place](), dict[str, Place]()
        for delivery in due:
            if taken.total() >= AT_ONCE:
                break
            if delivery.client_id not in known:
                known[delivery.client_id] = await self._find_place(delivery.client_id)
            place = known[delivery.client_id]
            if _has_room(place, taken):
                chosen[delivery.id] = place
                taken[place] += 1
        return due, chosen

    async def _find_place(self, client_id: str) -> Place:
        client = await self.clients.find(client_id)
        uri = client and client.backchannel_logout_uri
        host = urlsplit(uri or "").hostname or ""
        return Place(host, dynamically_registered=client is None or client.dynamically_registered)

    async def _attempt(self, delivery: LogoutDelivery) -> None:
        try:
            await self.attempt(delivery)
        except asyncio.CancelledError:
            with suppress(StoreUnavailable):
                await self.queue.give_back(delivery)
            raise
        except Exception:
            log.exception("a logout delivery was cut short")

    def _make_room(self, attempt: asyncio.Task[None]) -> None:
        del self._running[attempt]
        self.wake.set()


def _has_room(place: Place, taken: Counter[Place]) -> bool:
    """Whether one more attempt is allowed there.

    One host of the operator's clients gets three quarters of the places; all dynamically
    registered clients together get half, and each of their hosts gets two.
    """
    if not place.dynamically_registered:
        return taken[place] < AT_ONCE - AT_ONCE // 4
    of_all = sum(count for other, count in taken.items() if other.dynamically_registered)
    return of_all < AT_ONCE // 2 and taken[place] < PER_HOST
