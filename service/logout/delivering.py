"""What a replica does all the time: it tells clients of ended sessions, its own and those that others left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Never

import structlog

from service.clients.directory import Clients
from service.logout.queue import LogoutQueue
from service.logout.shares import Place, Shares
from service.model.session import LogoutDelivery
from service.store.keyvalue import StoreUnavailable

log = structlog.stdlib.get_logger(__name__)

INTERVAL = 1
"""Seconds between two looks at what other processes have put into the queue, or what is to be tried again."""

AT_ONCE = 20
"""Attempts that run at the same time; how many of them for whom, `Shares` says."""

LOOK_AHEAD = 1000
"""Deliveries that are looked through for those that there is a place for."""

SET_BACK = 30
"""Seconds for which so many that find no place step aside, lest nobody sees those behind them."""


@dataclass(slots=True, kw_only=True)
class LogoutDeliveries:
    """Makes the attempts that are due, some at once; no logout ever waits for them."""

    queue: LogoutQueue
    attempt: Callable[[LogoutDelivery], Awaitable[None]]
    """Makes one."""
    clients: Clients
    wake: asyncio.Event
    """Set when a session has ended here, or an attempt is over: then there is no need to wait."""
    _running: dict[asyncio.Task[None], Place] = field(
        default_factory=dict[asyncio.Task[None], Place]
    )

    async def run(self) -> Never:
        """Go on until the task is cancelled; what was taken by then is given back."""
        async with asyncio.TaskGroup() as attempts:
            while True:
                self.wake.clear()
                for delivery, place in await self._due():
                    attempt = attempts.create_task(self._attempt(delivery))
                    self._running[attempt] = place
                    attempt.add_done_callback(self._is_over)
                with suppress(TimeoutError):
                    async with asyncio.timeout(INTERVAL):
                        await self.wake.wait()

    async def _due(self) -> Iterable[tuple[LogoutDelivery, Place]]:
        room = AT_ONCE - len(self._running)
        if room == 0:
            return ()
        try:
            chosen = await self._chosen(room)
            return [(taken, chosen[taken.id]) for taken in await self.queue.take(chosen)]
        except StoreUnavailable:
            return ()  # readiness and metrics tell of it
        except Exception:
            log.exception("logout deliveries were not looked for")
            return ()

    async def _chosen(self, room: int) -> dict[str, Place]:
        """The first ones that there is a place for, with their places; the others keep theirs in the queue."""
        due, chosen = await self._look(room)
        if len(chosen) < room == len(due):
            due, chosen = await self._look(LOOK_AHEAD)
            if len(chosen) < room and len(due) == LOOK_AHEAD:
                waiting = [one for one in due if one.id not in chosen]
                await self.queue.set_back(waiting, seconds=SET_BACK)
        return chosen

    async def _look(self, at_most: int) -> tuple[Sequence[LogoutDelivery], dict[str, Place]]:
        due = await self.queue.due(at_most)
        shares = Shares(self.clients, self._running.values(), places=AT_ONCE)
        return due, await shares.choose(due)

    async def _attempt(self, delivery: LogoutDelivery) -> None:
        try:
            await self.attempt(delivery)
        except asyncio.CancelledError:
            with suppress(StoreUnavailable):
                await self.queue.give_back(delivery)
            raise
        except Exception:
            log.exception("a logout delivery was cut short")

    def _is_over(self, attempt: asyncio.Task[None]) -> None:
        """There is room for the next one."""
        del self._running[attempt]
        self.wake.set()
