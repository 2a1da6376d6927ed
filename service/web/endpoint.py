"""Endpoints, and the messages that both lanes carry to and from them: requests and answers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import ClassVar, NamedTuple, Protocol, final, runtime_checkable
from urllib.parse import unquote

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


def raw_query(request: Message) -> str:
    """Return what is behind the question mark, with its percent-encoding."""
    return request.query if isinstance(request, WholeRequest) else request.rel_url.raw_query_string


def name_in(request: Message, prefix: str) -> str:
    """Return the segment of the path behind this prefix, decoded."""
    return unquote(raw_path(request).removeprefix(prefix).partition("/")[0])


class Fields:
    """Header fields that many answers share, with how they go over the wire."""

    __slots__ = ("headers", "wire")

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self.wire = "".join([f"{name}: {value}\r\n" for name, value in headers.items()]).encode()


@final
class Answer(msgspec.Struct, gc=False):
    """An answer to a machine or to a browser."""

    fields: Fields
    """They always include a caching rule and `nosniff`."""
    body: bytes
    status: int = 200
    headers: dict[str, str] = {}
    """The fields of this answer alone."""
    cookies: dict[str, str] = {}
    """The Set-Cookie fields, by the names of their cookies (RFC 6265 §4.1.1)."""

    def for_aiohttp(self) -> web.Response:
        headers = CIMultiDict(self.fields.headers)
        headers.update(self.headers)
        headers.extend([("Set-Cookie", cookie) for cookie in self.cookies.values()])
        return web.Response(body=self.body, status=self.status, headers=headers)


NOSNIFF = "X-Content-Type-Options"

NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache", NOSNIFF: "nosniff"}
"""For tokens, codes, and errors about them (RFC 6749 §5.1)."""

_encode = msgspec.json.Encoder().encode
_JSON = Fields({"Content-Type": "application/json", **NO_STORE})
_EMPTY = Fields(NO_STORE)
NO_FIELDS = Fields({})
_SEE_OTHER = Fields({**NO_STORE, "Referrer-Policy": "no-referrer"})


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


def see_other(location: str) -> Answer:
    """Redirect by GET, whatever the method of the request was (RFC 9110 §15.4.4, RFC 9700 §4.12)."""
    return Answer(_SEE_OTHER, b"", 303, {"Location": location})


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


Handler = Callable[[Message], Awaitable[Answer]]


class Direct(NamedTuple):
    """A route that the fast lane serves as well as aiohttp (`web/server/fast_lane.py`)."""

    method: str
    """`*` for every method."""
    path: str
    """With names in braces, each for one segment, which `name_in` returns."""
    handler: Handler
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


_NAME = re.compile(r"\\\{\w+\\\}")
"""A name in a path that `re.escape` has gone over."""
_ANY_SEGMENT = "[^{}%/]{1,256}"


class DirectRoutes:
    """Finds the route of a method and a path, without a router."""

    def __init__(self, routes: Iterable[Direct]) -> None:
        self._exact = {(route.method, route.path): route for route in routes}
        others = [route for route in routes if route.below or "{" in route.path]
        others.sort(key=lambda route: not route.below)  # gateways ask more than all others
        self._others = [(_matcher(route), route) for route in others]

    def find(self, method: str, path: str) -> Direct | None:
        """Return the route; None for one that only aiohttp's router finds."""
        found = self._exact.get((method, path))
        if found is None:
            others = (route for matches, route in self._others if matches(path))
            return next((route for route in others if route.method in {"*", method}), None)
        return found


def _matcher(route: Direct) -> Callable[[str], object]:
    """Return what finds whether a path is one of this route's."""
    pattern = re.compile(_NAME.sub(_ANY_SEGMENT, re.escape(route.path)))
    return pattern.match if route.below else pattern.fullmatch


class Endpoint(Protocol):
    """One URL, or a few that belong together."""

    def routes(self) -> Iterable[Route]: ...


@runtime_checkable
class Described(Protocol):
    """An endpoint that discovery lists."""

    def metadata(self) -> Mapping[str, object]:
        """Return its metadata (RFC 8414 §2); discovery puts the issuer before paths."""
        ...


@runtime_checkable
class TakesCertificates(Protocol):
    """An endpoint at which a client may have to show its certificate, and which therefore has an alias (RFC 8705 §5)."""

    takes_certificates: ClassVar[bool]
    """True; an endpoint without certificates has no such member."""
