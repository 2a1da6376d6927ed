"""Answers CORS requests as the endpoints allow it (Fetch Standard §3.2)."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from contextlib import suppress

from multidict import istr

from service.clients.origins import RegisteredOrigins
from service.model.registry import LiveRegistry, Registry
from service.protocol.redirect_uri import origin_of
from service.store.keyvalue import StoreUnavailable
from service.web.endpoint import NO_FIELDS, Answer, Direct, Message, ScriptAccess, raw_path

_ORIGIN = istr("Origin")


class Cors:
    """Knows for each path which scripts may call it."""

    def __init__(
        self,
        routes: Iterable[Direct],
        *,
        registry: LiveRegistry,
        registered: RegisteredOrigins | None,
        with_credentials: str | None = None,
    ) -> None:
        """Take the origins of dynamically registered clients, too; None if there are no such clients.

        `with_credentials` is the path of an endpoint whose answers scripts may read that sent cookies, which it never reads.
        """
        self._with_credentials = with_credentials
        self._registry = registry
        self._registered = registered
        self._access: dict[str, ScriptAccess] = {}
        self._methods: dict[str, list[str]] = {}
        self._below: list[str] = []
        self._exact: set[str] = set()
        for route in routes:
            if not route.below:
                self._exact.add(route.path)
            if route.scripts is not None:
                self._access[route.path] = route.scripts
                self._methods.setdefault(route.path, []).append(route.method)
                self._below += [route.path] if route.below else []
        self._configured: tuple[Registry | None, frozenset[str]] = (None, frozenset())

    def is_preflight(self, path: str, request: Message) -> bool:
        """Return whether a browser asks what it may send to a path that scripts may call."""
        return (
            self._place(path) in self._access and "Access-Control-Request-Method" in request.headers
        )

    async def answer_preflight(self, request: Message) -> Answer:
        """Return methods and headers; `add_headers` adds the origin."""
        path = self._place(raw_path(request))
        headers = {
            "Access-Control-Allow-Methods": ", ".join(self._methods[path]),
            "Access-Control-Allow-Headers": ", ".join(self._access[path].request_headers),
            "Access-Control-Max-Age": "600",
        }
        return Answer(NO_FIELDS, b"", 204, headers)

    def add_headers(
        self, path: str, request: Message, headers: MutableMapping[str, str]
    ) -> str | None:
        """Allow the request's origin to read the answer; return it if `add_registered` has to decide."""
        access = self._access.get(self._place(path))
        if access is None:
            return None
        if access.any_origin:
            headers["Access-Control-Allow-Origin"] = "*"
            return None
        headers["Vary"] = "Origin"
        origin = request.headers.get(_ORIGIN)
        if origin is not None and origin in self._configured_origins():
            self._allow(path, origin, headers)
            return None
        return None if self._registered is None else origin

    async def add_registered(
        self, path: str, origin: str, headers: MutableMapping[str, str]
    ) -> None:
        """Allow the origin if it is a dynamically registered client's; an unavailable store allows nothing."""
        if self._registered is None or not _is_origin(origin):
            return
        with suppress(StoreUnavailable):
            if await self._registered.includes(origin):
                self._allow(path, origin, headers)

    def _allow(self, path: str, origin: str, headers: MutableMapping[str, str]) -> None:
        place = self._place(path)
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Expose-Headers"] = ", ".join(self._access[place].readable_headers)
        if place == self._with_credentials:
            headers["Access-Control-Allow-Credentials"] = "true"

    def _place(self, path: str) -> str:
        """Return the path of the route that may have those below it, too."""
        if path in self._exact:
            return path
        return next((each for each in self._below if path.startswith(each)), path)

    def _configured_origins(self) -> frozenset[str]:
        registry, origins = self._registry.current, self._configured[1]
        if self._configured[0] is not registry:
            clients = [client for client in registry.clients.values() if client.enabled]
            origins = frozenset(
                origin for client in clients for origin in client.allowed_cors_origins
            )
            self._configured = (registry, origins)
        return origins


def _is_origin(text: str) -> bool:
    try:
        return text.isascii() and origin_of(text) == text
    except ValueError:
        return False
