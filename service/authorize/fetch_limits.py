"""Limits the fetches of request objects: one slow or abusive client cannot affect others (OIDC Core §6.2)."""

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
"""Fetches for one client that one address causes, whatever fragments the URLs have.

Anybody can send a client's request: a limit for the client alone would let one user stop all others.
"""

AT_ONCE = 10
"""Fetches by one HTTP client; its other connections are for keys, sector documents and logouts."""

PATIENCE = 5
"""Seconds for which a fetch waits for one of these."""


class FetchLimits:
    """Counts in this process, whose connections it protects."""

    def __init__(self, *, now: Callable[[], int]) -> None:
        self._now = now
        self._minute = 0
        self._counted: Counter[tuple[str, str]] = Counter()
        self._places: dict[HttpClient, asyncio.Semaphore] = {}

    def count(self, client: Client, client_address: str) -> None:
        """Count a fetch that this address causes; raise InvalidRequestUri if it is one too many."""
        minute = self._now() // 60
        if minute != self._minute:
            self._minute = minute
            self._counted.clear()
        key = client.client_id, network_of(client_address)
        if self._counted[key] >= PER_MINUTE:
            raise InvalidRequestUri("request_uri is fetched too often: try again in a minute")
        self._counted[key] += 1

    @asynccontextmanager
    async def take_place(self, http: HttpClient) -> AsyncGenerator[None]:
        """Wait for a place among the fetches of this HTTP client; raise InvalidRequestUri if that takes long."""
        places = self._places.setdefault(http, asyncio.Semaphore(AT_ONCE))
        try:
            async with asyncio.timeout(PATIENCE):
                await places.acquire()
        except TimeoutError as error:
            raise InvalidRequestUri("request_uri cannot be fetched now: try again") from error
        try:
            yield
        finally:
            places.release()
