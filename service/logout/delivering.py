"""Tells clients of ended sessions as long as the process runs: its own, and those that other processes left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Never

import structlog

from service.clients.directory import Clients
from service.logout.queue import LogoutQueue
from service.logout.shares import Place, choose_deliveries
from service.model.session import LogoutDelivery
from service.store.keyvalue import StoreUnavailable

log = structlog.stdlib.get_logger(__name__)

INTERVAL = 1
"""Seconds until the queue is read again, for what other processes have added or what is due again."""

AT_ONCE = 20
"""Attempts that run at the same time."""

LOOK_AHEAD = 1000
"""Deliveries that are searched for those that there is a place for."""

SET_BACK = 30
"""Seconds for which so many without a place are deferred, so that those behind them are found."""


@dataclass(slots=True, kw_only=True)
class LogoutDeliveries:
    """Makes the attempts that are due, some at once; no logout ever waits for them."""

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
        due, running = await self.queue.find_due(at_most), self._running.values()
        return due, await choose_deliveries(due, running, self.clients, places=AT_ONCE)

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
