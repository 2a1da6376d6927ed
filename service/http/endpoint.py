"""What an endpoint is: the requests it answers, and what discovery says of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from aiohttp import web

from service.http.answer import Answer
from service.http.message import Message


class Endpoint(Protocol):
    """One URL (or a few that belong together); its bound methods are aiohttp's handlers."""

    def routes(self) -> Iterable[web.RouteDef]:
        """The methods and paths it answers."""
        ...

    def metadata(self) -> Mapping[str, object]:
        """What it adds to the discovery document (RFC 8414 §2); paths are made absolute there."""
        ...


class Direct(NamedTuple):
    """A method and an exact path, for the fast lane and aiohttp alike."""

    method: str
    path: str
    handler: Callable[[Message], Awaitable[Answer]]
    head: bool = False
    """Whether HEAD is answered, too: the fields are worth something without the body."""


class MachineEndpoint(Protocol):
    """One URL that programs ask all day; see `server/fast_lane.py`."""

    def direct(self) -> Iterable[Direct]:
        """The methods and paths it answers."""
        ...

    def metadata(self) -> Mapping[str, object]:
        """What it adds to the discovery document (RFC 8414 §2); paths are made absolute there."""
        ...


def routed(direct: Direct) -> web.RouteDef:
    """The same for aiohttp's router, which knows what else a path may be asked."""

    async def handle(request: web.Request) -> web.Response:
        return (await direct.handler(request)).for_aiohttp()

    if direct.method == "GET":
        return web.get(direct.path, handle, allow_head=direct.head)
    return web.route(direct.method, direct.path, handle)
