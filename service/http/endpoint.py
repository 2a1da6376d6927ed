"""Endpoints: the requests that they answer, the scripts that may call them, and what discovery lists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from aiohttp import web

from service.http.answer import Answer
from service.http.message import Message


class ScriptAccess(NamedTuple):
    """The scripts of other origins that may call an endpoint, never with cookies (Fetch Standard §3.2)."""

    any_origin: bool
    """False for the origins of clients only."""
    request_headers: tuple[str, ...] = ("Authorization", "Content-Type")
    readable_headers: tuple[str, ...] = ("WWW-Authenticate", "Retry-After", "X-Request-ID")


ANY_ORIGIN = ScriptAccess(any_origin=True)
CLIENT_ORIGINS = ScriptAccess(any_origin=False)


class Direct(NamedTuple):
    """A route with an exact path, which the fast lane serves as well as aiohttp (`server/fast_lane.py`)."""

    method: str
    path: str
    handler: Callable[[Message], Awaitable[Answer]]
    head: bool = False
    """Whether HEAD is answered, too."""
    scripts: ScriptAccess | None = None

    def for_aiohttp(self) -> web.RouteDef:
        async def handle(request: web.Request) -> web.Response:
            return (await self.handler(request)).for_aiohttp()

        if self.method == "GET":
            return web.get(self.path, handle, allow_head=self.head)
        return web.route(self.method, self.path, handle)


Route = Direct | web.RouteDef


class Endpoint(Protocol):
    """One URL, or a few that belong together."""

    def routes(self) -> Iterable[Route]: ...


@runtime_checkable
class Described(Protocol):
    """An endpoint that discovery lists."""

    def metadata(self) -> Mapping[str, object]:
        """Return its metadata (RFC 8414 §2); discovery puts the issuer before paths."""
        ...
