"""How often and how many request objects are fetched: who hangs or asks without end is alone with that (OIDC Core §6.2)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from service.model.client import Client
from service.model.network import network_of
from service.model.outgoing import HttpClient
from service.protocol.errors import InvalidRequestUri

PER_MINUTE = 30
"""Fetches for one client that one address causes, whatever fragments its URLs are asked for with.

Anybody can send a client's request: counted for the client alone, one person would refuse all others.
"""

AT_ONCE = 10
"""Fetches on one way out; the other connections are for keys, sector documents and logouts."""

PATIENCE = 5
"""Seconds for which a fetch waits for its place."""

_MINUTE = 60


class FetchLimits:
    """Counted in this process: it is its own connections that are spared."""

    def __init__(self, *, now: Callable[[], int]) -> None:
        """Take the clock."""
        self._now = now
        self._minute = 0
        self._counted: Counter[tuple[str, str]] = Counter()
        self._places: dict[HttpClient, asyncio.Semaphore] = {}

    def count(self, client: Client, client_address: str) -> None:
        """Count one fetch for who asks from this address; InvalidRequestUri where it is one too many (OIDC Core §3.1.2.6)."""
        minute = self._now() // _MINUTE
        if minute != self._minute:
            self._minute = minute
            self._counted.clear()
        key = client.client_id, network_of(client_address)
        if self._counted[key] >= PER_MINUTE:
            raise InvalidRequestUri("request_uri is fetched too often: try again in a minute")
        self._counted[key] += 1

    @asynccontextmanager
    async def place(self, way: HttpClient) -> AsyncGenerator[None, None]:
        """One of the places of this way, as soon as there is one; InvalidRequestUri where that takes long."""
        places = self._places.setdefault(way, asyncio.Semaphore(AT_ONCE))
        try:
            async with asyncio.timeout(PATIENCE):
                await places.acquire()
        except TimeoutError as error:
            raise InvalidRequestUri("request_uri cannot be fetched now: try again") from error
        try:
            yield
        finally:
            places.release()
