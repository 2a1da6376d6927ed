"""What a replica does all the time: it tells clients of ended sessions, its own and those that others left."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Never

import structlog

from service.logout.back_channel import BackChannel
from service.logout.queue import LogoutQueue
from service.model.logout_delivery import LogoutDelivery
from service.store.keyvalue import StoreUnavailable

log = structlog.stdlib.get_logger(__name__)

INTERVAL = 1
"""Seconds between two looks at what other processes have put into the queue, or what is to be tried again."""

AT_ONCE = 20
"""Attempts that run at the same time; a client that hangs leaves room for the others."""


@dataclass(slots=True, kw_only=True)
class LogoutDeliveries:
    """Makes the attempts that are due, some at once; no logout ever waits for them."""

    queue: LogoutQueue
    back_channel: BackChannel
    wake: asyncio.Event
    """Set when a session has ended here, or an attempt is over: then there is no need to wait."""
    _running: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def run(self) -> Never:
        """Go on until the task is cancelled; what was taken by then is given back."""
        async with asyncio.TaskGroup() as attempts:
            while True:
                self.wake.clear()
                for delivery in await self._due():
                    attempt = attempts.create_task(self._attempt(delivery))
                    self._running.add(attempt)
                    attempt.add_done_callback(self._is_over)
                with suppress(TimeoutError):
                    async with asyncio.timeout(INTERVAL):
                        await self.wake.wait()

    async def _due(self) -> tuple[LogoutDelivery, ...]:
        room = AT_ONCE - len(self._running)
        if room == 0:
            return ()
        try:
            return await self.queue.take(room)
        except StoreUnavailable:
            return ()  # readiness and metrics tell of it
        except Exception:
            log.exception("logout deliveries were not looked for")
            return ()

    async def _attempt(self, delivery: LogoutDelivery) -> None:
        try:
            await self.back_channel.attempt(delivery)
        except asyncio.CancelledError:
            with suppress(StoreUnavailable):
                await self.queue.give_back(delivery)
            raise
        except Exception:
            log.exception("a logout delivery was cut short")

    def _is_over(self, attempt: asyncio.Task[None]) -> None:
        """There is room for the next one."""
        self._running.discard(attempt)
        self.wake.set()
