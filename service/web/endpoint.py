"""Endpoints, and the messages that both lanes carry to and from them: requests and answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import NamedTuple, Protocol, final, runtime_checkable

import msgspec
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy

from service.events.event import Event


class WholeRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A request that needs no more reading; its members are those of aiohttp's `Request`."""

    method: str
    path: str
    headers: CIMultiDictProxy[str]
    body: bytes
    remote: str | None
    query: str = ""
    """Behind the question mark, as it was sent."""
    peer_certificates: tuple[bytes, ...] = ()
    """The client's certificates of the TLS handshake, as DER, its own first."""
    route: Direct | None = None
    """The handler; None for a path that only aiohttp serves."""
    of_head: dict[str, bytes] = {}
    """Values computed from the head; the requests of a connection with the same head share them."""


Message = web.Request | WholeRequest


def raw_path(request: Message) -> str:
    """Return the path with its percent-encoding."""
    return request.path if isinstance(request, WholeRequest) else request.rel_url.raw_path


class Fields:
    """Header fields that many answers share, with how they go over the wire."""

    __slots__ = ("headers", "wire")

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self.wire = "".join([f"{name}: {value}\r\n" for name, value in headers.items()]).encode()


@final
class Answer(msgspec.Struct, gc=False):
    """An answer to a machine."""

    fields: Fields
    """They always include a caching rule and `nosniff`."""
    body: bytes
    status: int = 200
    headers: dict[str, str] = {}
    """The fields of this answer alone."""

    def for_aiohttp(self) -> web.Response:
        headers = CIMultiDict(self.fields.headers)
        headers.update(self.headers)
        return web.Response(body=self.body, status=self.status, headers=headers)


NOSNIFF = "X-Content-Type-Options"

NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache", NOSNIFF: "nosniff"}
"""For tokens, codes, and errors about them (RFC 6749 §5.1)."""

_encode = msgspec.json.Encoder().encode
_JSON = Fields({"Content-Type": "application/json", **NO_STORE})
_EMPTY = Fields(NO_STORE)


def json_answer(
    content: Mapping[str, object], *, status: int = 200, headers: dict[str, str] | None = None
) -> Answer:
    return Answer(_JSON, _encode(content), status, headers or {})


def empty_answer(status: int = 200) -> Answer:
    return Answer(_EMPTY, b"", status)


def jwt_fields(media_type: str) -> Fields:
    return Fields({"Content-Type": media_type, **NO_STORE})


def document_fields(*, max_age: int) -> Fields:
    """Return the fields of a public JSON document that caches may keep for so many seconds."""
    caching = {"Cache-Control": f"public, max-age={max_age}", NOSNIFF: "nosniff"}
    return Fields({"Content-Type": "application/json", **caching})


def see_other(location: str) -> web.Response:
    """Redirect by GET, whatever the method of the request was (RFC 9110 §15.4.4, RFC 9700 §4.12)."""
    headers = {**NO_STORE, "Location": location, "Referrer-Policy": "no-referrer"}
    return web.Response(status=303, headers=headers)


class ScriptAccess(NamedTuple):
    """The origins whose scripts may call an endpoint (CORS), never with cookies (Fetch Standard §3.2)."""

    any_origin: bool
    """False for the origins of clients only."""
    request_headers: tuple[str, ...] = ("Authorization", "Content-Type", "DPoP")
    readable_headers: tuple[str, ...] = (
        "WWW-Authenticate",
        "Retry-After",
        "X-Request-ID",
        "DPoP-Nonce",
    )


ANY_ORIGIN = ScriptAccess(
    any_origin=True, request_headers=("Authorization", "Content-Type", "MCP-Protocol-Version")
)
"""MCP clients in a browser name their protocol's version where they ask for metadata."""
CLIENT_ORIGINS = ScriptAccess(any_origin=False)


class Direct(NamedTuple):
    """A route that the fast lane serves as well as aiohttp (`web/server/fast_lane.py`)."""

    method: str
    """`*` for every method."""
    path: str
    handler: Callable[[Message], Awaitable[Answer]]
    scripts: ScriptAccess | None = None
    below: bool = False
    """Whether it is the route of every path that begins with this one."""
    at_once: Callable[[WholeRequest], tuple[Answer, Event] | None] | None = None
    """Returns the handler's answer and event where nothing has to be waited for; never for CORS requests."""
    refuse: Callable[[], Answer] | None = None
    """Makes the answer to requests that are refused for how they are sent, where the callers know a few statuses only."""

    def for_aiohttp(self) -> web.RouteDef:
        async def handle(request: web.Request) -> web.Response:
            return (await self.handler(request)).for_aiohttp()

        path = self.path + "{below:.*}" if self.below else self.path
        if self.method == "GET":
            return web.get(path, handle)  # HEAD, too (RFC 9110 §9.1)
        return web.route(self.method, path, handle)


Route = Direct | web.RouteDef


class DirectRoutes:
    """Finds the route of a method and a path, without a router."""

    def __init__(self, routes: Iterable[Direct]) -> None:
        exact = [route for route in routes if not route.below]
        self._exact = {(route.method, route.path): route for route in exact}
        self._below = [route for route in routes if route.below]

    def find(self, method: str, path: str) -> Direct | None:
        """Return the route; None for one that only aiohttp's router finds."""
        found = self._exact.get((method, path))
        if found is None:
            below = (route for route in self._below if path.startswith(route.path))
            return next((route for route in below if route.method in {"*", method}), None)
        return found


class Endpoint(Protocol):
    """One URL, or a few that belong together."""

    def routes(self) -> Iterable[Route]: ...


@runtime_checkable
class Described(Protocol):
    """An endpoint that discovery lists."""

    def metadata(self) -> Mapping[str, object]:
        """Return its metadata (RFC 8414 §2); discovery puts the issuer before paths."""
        ...
