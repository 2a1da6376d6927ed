"""All store work of one request has to be over in time (a slow store must not pile requests up)."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from aiohttp import web
from aiohttp.typedefs import Handler

from service.store.keyvalue import deadline

COMMANDS = 2
"""How many times the time-out of one command a whole request may spend in the store."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """Starts the clock of every request; `timeout` is that of one command, in seconds."""

    timeout: float

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Set the deadline that the store looks at."""
        deadline.set(monotonic() + COMMANDS * self.timeout)
        return await handler(request)
