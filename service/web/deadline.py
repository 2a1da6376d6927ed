"""All store work of one request has to be over in time (a slow store must not pile requests up)."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Handler

from service.store.keyvalue import StoreTime, store_time

COMMANDS = 2
"""How many times the time-out of one command a whole request may spend in the store."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """Gives every request its time; `timeout` is that of one command, in seconds."""

    timeout: float

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Set what the store looks at."""
        store_time.set(StoreTime(COMMANDS * self.timeout))
        return await handler(request)
