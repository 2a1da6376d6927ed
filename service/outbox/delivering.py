"""Makes the deliveries of an outbox that are due, as long as the process runs.

Any replica may take a delivery, and only one at a time does: its own, and those that others left.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Generic, Never, Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec
import structlog

from service.clients.directory import Clients
from service.model.client import Client
from service.outbox.queue import D, Delivery, Outbox
from service.store.keyvalue import StoreUnavailable
from service.store.verbs import STEP

log = structlog.stdlib.get_logger(__name__)

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


class Place(msgspec.Struct, frozen=True):
    """The host of an attempt."""

    host: str
    dynamically_registered: bool = False


FindPlace = Callable[[D], Awaitable[Place]]


class ClientDelivery(Delivery, Protocol):
    """A message on its way to a client."""

    @property
    def client_id(self) -> str: ...


C = TypeVar("C", bound=ClientDelivery)


def places_of_clients(
    clients: Clients, find_uri: Callable[[C, Client | None], str | None]
) -> Callable[[], FindPlace[C]]:
    """Return what makes a finder of places, which asks once for each client; `find_uri` returns the place of a delivery to it."""

    def open_places() -> FindPlace[C]:
        known = dict[str, Client | None]()

        async def find_place(delivery: C) -> Place:
            if delivery.client_id not in known:
                known[delivery.client_id] = await clients.find(delivery.client_id)
            client = known[delivery.client_id]
            host = urlsplit(find_uri(delivery, client) or "").hostname or ""
            return Place(
                host, dynamically_registered=client is None or client.dynamically_registered
            )

        return find_place

    return open_places


class Deliveries(msgspec.Struct, Generic[D], kw_only=True):
    """Makes the attempts that are due, some at once; no request ever waits for them.

    A host that hangs never takes all places for attempts.
    """

    queue: Outbox[D]
    attempt: Callable[[D], Awaitable[None]]
    open_places: Callable[[], FindPlace[D]]
    """Makes what finds the places of some deliveries, and may remember what it has found."""
    wake: asyncio.Event
    """Set when something was queued here, or an attempt is over: then the queue is read at once."""
    _running: dict[asyncio.Task[None], Place] = msgspec.field(
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

    async def _take_due(self) -> list[tuple[D, Place]]:
        room = AT_ONCE - len(self._running)
        if room == 0:
            return []
        try:
            chosen = await self._choose(room)
            return [(taken, chosen[taken.id]) for taken in await self.queue.take(chosen)]
        except StoreUnavailable:
            return []  # readiness and metrics show it
        except Exception:
            log.exception("deliveries cannot be read")
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

    async def _find_due(self, at_most: int) -> tuple[Sequence[D], dict[str, Place]]:
        """Return due deliveries, and the places of those that there is room for, by their ids."""
        due = await self.queue.find_due(at_most)
        taken = Counter(self._running.values())
        find_place, chosen = self.open_places(), dict[str, Place]()
        for number, delivery in enumerate(due):
            if taken.total() >= AT_ONCE:
                break
            if number % STEP == 0:
                await asyncio.sleep(0)
            place = await find_place(delivery)
            if _has_room(place, taken):
                chosen[delivery.id] = place
                taken[place] += 1
        return due, chosen

    async def _attempt(self, delivery: D) -> None:
        try:
            await self.attempt(delivery)
        except asyncio.CancelledError:
            with suppress(StoreUnavailable):
                await self.queue.give_back(delivery)
            raise
        except Exception:
            log.exception("a delivery was cut short")

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
