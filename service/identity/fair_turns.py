"""A few turns at slow work, given out network by network: a crowd from one network waits for itself alone."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from service.protocol.errors import TemporarilyUnavailable, TooManyRequests

PER_NETWORK = 100
"""Requests of one network that are worked on or wait; one more is refused at once."""

RETRY_AFTER = 5


@dataclass(slots=True, kw_only=True)
class FairTurns:
    """Who waits for a turn gets it after at most one request of every other network that waits, too."""

    free: int
    """How many turns nobody has."""
    patience: float = 5.0
    """Seconds to wait for a turn."""
    _places: Counter[str] = field(default_factory=Counter[str])
    _queues: dict[str, deque[asyncio.Future[None]]] = field(default_factory=dict)
    """Who waits, by network; the network whose turn is next comes first."""

    @asynccontextmanager
    async def place(self, network: str) -> AsyncGenerator[None]:
        """Take one of the network's places; TooManyRequests where all are taken."""
        if self._places[network] >= PER_NETWORK:
            raise TooManyRequests("too many people sign in there at once", retry_after=RETRY_AFTER)
        self._places[network] += 1
        try:
            yield
        finally:
            self._places[network] -= 1
            if not self._places[network]:
                del self._places[network]

    @asynccontextmanager
    async def turn(self, network: str) -> AsyncGenerator[None]:
        """Wait for a turn, and not for long; TemporarilyUnavailable where none comes."""
        if self.free:
            self.free -= 1
        else:
            await self._wait(network)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, network: str) -> None:
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(network, deque()).append(mine)
        try:
            async with asyncio.timeout(self.patience):
                await mine
        except (TimeoutError, asyncio.CancelledError) as error:
            if not mine.cancelled():
                self._pass_on()  # it came in the same moment
            if isinstance(error, TimeoutError):
                raise TemporarilyUnavailable("too many people sign in at once") from error
            raise

    def _pass_on(self) -> None:
        """Give the turn to the next network, whose others then wait behind all other networks."""
        while self._queues:
            network = next(iter(self._queues))
            queue = self._queues.pop(network)
            following = queue.popleft()
            if queue:
                self._queues[network] = queue
            if not following.done():
                following.set_result(None)
                return
        self.free += 1
