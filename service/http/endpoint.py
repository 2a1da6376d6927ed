"""What an endpoint is: the requests it answers, and what discovery says of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from aiohttp import web

from service.http.answer import Answer
from service.http.message import Message


class Direct(NamedTuple):
    """A method and an exact path that programs ask all day, for the fast lane and aiohttp's router alike."""

    method: str
    path: str
    handler: Callable[[Message], Awaitable[Answer]]
    head: bool = False
    """Whether HEAD is answered, too: the fields are worth something without the body."""

    def for_aiohttp(self) -> web.RouteDef:
        """Return the route for aiohttp's router, which answers other methods of the path."""

        async def handle(request: web.Request) -> web.Response:
            return (await self.handler(request)).for_aiohttp()

        if self.method == "GET":
            return web.get(self.path, handle, allow_head=self.head)
        return web.route(self.method, self.path, handle)


class Endpoint(Protocol):
    """One URL, or a few that belong together; its bound methods are the handlers."""

    def routes(self) -> Iterable[Direct | web.RouteDef]:
        """Return the methods and paths that it answers; `Direct` for those that programs ask."""
        ...

    def metadata(self) -> Mapping[str, object]:
        """Return what it adds to the discovery document (RFC 8414 §2); paths are made absolute there."""
        ...
