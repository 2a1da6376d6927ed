"""Gives out a few turns at slow work fairly: many requests of one network wait for themselves alone."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from service.protocol.errors import TemporarilyUnavailable, TooManyRequests

PER_NETWORK = 100
"""Requests of one network that are worked on or wait; one more is refused at once."""

RETRY_AFTER = 5
PATIENCE = 5.0
"""Seconds to wait for a turn."""


class FairTurns:
    """A request gets its turn after at most one request of every other network that waits, too."""

    def __init__(self, turns: int) -> None:
        self._turns = asyncio.Semaphore(turns)
        self._places = Counter[str]()
        self._next = WeakValueDictionary[str, asyncio.Lock]()
        """Held by the one request of each network that waits for a turn, before its others do."""

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
