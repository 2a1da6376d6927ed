"""Which scripts of other origins may read an answer? (Fetch Standard §3.2)"""

from __future__ import annotations

from collections.abc import Collection, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import web

from service.clients.origins import RegisteredOrigins
from service.http.message import Message
from service.model.registry import LiveRegistry, Registry
from service.protocol.redirect_uri import origin_of
from service.store.keyvalue import StoreUnavailable

_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
}
_READABLE = "WWW-Authenticate, Retry-After, X-Request-ID"


@dataclass(slots=True, kw_only=True)
class Cors:
    """Opens some paths to every origin, some to the origins of registered clients, and no other; never credentials."""

    registry: LiveRegistry
    open_paths: Collection[str]
    client_paths: Collection[str]
    registered: RegisteredOrigins | None
    """The origins of clients that registered themselves; None where they cannot."""
    _origins: frozenset[str] = field(default=frozenset(), init=False)
    _origins_of: Registry | None = field(default=None, init=False)

    def opens(self, path: str, request: web.Request) -> bool:
        """Whether this is what a browser asks first, and there is something for it to ask."""
        asked = "Access-Control-Request-Method" in request.headers
        return asked and (path in self.open_paths or path in self.client_paths)

    def add_headers(
        self, path: str, request: Message, headers: MutableMapping[str, str]
    ) -> str | None:
        """Say who may read this answer, be it an error; gives the origin that `add_for` has to ask about."""
        if path in self.open_paths:
            headers["Access-Control-Allow-Origin"] = "*"
        elif path in self.client_paths:
            headers["Vary"] = "Origin"
            origin = request.headers.get("Origin")
            if origin is not None and origin in self._written_down():
                _allow(origin, headers)
            elif self.registered is not None:
                return origin
        return None

    async def add_for(self, origin: str, headers: MutableMapping[str, str]) -> None:
        """The same for an origin that no client of the file has; a store that is away allows nothing."""
        if self.registered is None or not _is_origin(origin):
            return
        with suppress(StoreUnavailable):
            if await self.registered.includes(origin):
                _allow(origin, headers)

    def _written_down(self) -> frozenset[str]:
        """The origins of the file's enabled clients, collected once per registry."""
        current = self.registry.current
        if self._origins_of is not current:
            self._origins = frozenset(
                origin
                for client in current.clients.values()
                if client.enabled
                for origin in client.allowed_cors_origins
            )
            self._origins_of = current
        return self._origins


def _is_origin(text: str) -> bool:
    try:
        return text.isascii() and origin_of(text) == text
    except ValueError:
        return False


def _allow(origin: str, headers: MutableMapping[str, str]) -> None:
    headers["Access-Control-Allow-Origin"] = origin
    headers["Access-Control-Expose-Headers"] = _READABLE


async def allow(_: web.Request) -> web.Response:
    """The answer to a preflight; `add_headers` tells whose scripts may go on."""
    return web.Response(status=204, headers=_PREFLIGHT)
