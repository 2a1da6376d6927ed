"""HTTP clients around another one: one that is made late, and one that measures."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from service.events.timings import EmitTiming, OthersAnswered
from service.model.outgoing import HttpAnswer, HttpClient, HttpRequest

if TYPE_CHECKING:
    from service.outgoing.http_client import OutgoingHttp


class LateHttp(msgspec.Struct, eq=False):  # keys are remembered by the client that fetched them
    """Makes an HTTP client for its first request; a process that sends none need not import aiohttp."""

    make: Callable[[], OutgoingHttp]
    _made: OutgoingHttp | None = None

    async def fetch(self, request: HttpRequest) -> HttpAnswer:
        if self._made is None:
            self._made = self.make()
        return await self._made.fetch(request)

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()


class TimedHttp(msgspec.Struct, frozen=True):
    """Reports the duration of each request of another client, for one purpose."""

    purpose: str
    http: HttpClient
    timed: EmitTiming

    async def fetch(self, request: HttpRequest) -> HttpAnswer:
        began = monotonic()
        try:
            return await self.http.fetch(request)
        finally:
            self.timed(OthersAnswered(self.purpose, monotonic() - began))
