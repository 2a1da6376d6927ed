"""Requests to the issuer, by httpx2, httpx or aiohttp: with a deadline, a size limit, and without redirects."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol, cast
from weakref import WeakKeyDictionary

from oauth_resource_server.refusals import IssuerUnavailable

MAX_BYTES = 512 * 1024
"""Of an answer of the issuer; a longer one counts as none."""
SECONDS = 5
"""Until an answer of the issuer has to be complete."""

log = logging.getLogger("oauth_resource_server")


class Answer(NamedTuple):
    """A response of the issuer."""

    status: int
    body: bytes


class Http(Protocol):
    """Sends requests; `oauth_resource_server.testing` has one without a network."""

    async def send(
        self, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> Answer:
        """POST the form, or GET without a form."""
        ...

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        ...


class TooLong(Exception):
    """The answer is longer than MAX_BYTES."""


async def fetch_json(
    http: Http,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
) -> tuple[int, Mapping[str, Any]]:
    """Return status and JSON object of the answer, an empty one if it is something else; or raise IssuerUnavailable."""
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})}
    try:
        async with asyncio.timeout(SECONDS):
            answer = await http.send(url, sent, form)
    except Exception as error:  # each library has errors of its own
        log.warning("no answer from %s: %s", url, type(error).__name__)
        raise IssuerUnavailable("the issuer does not answer") from error
    if answer.status >= 500:  # noqa: PLR2004
        log.warning("%s answers %d", url, answer.status)
        raise IssuerUnavailable("the issuer does not answer")
    return answer.status, read_object(answer.body) or {}


def read_object(text: bytes) -> dict[str, Any] | None:
    """Return a JSON object, or None if it is anything else."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", content) if isinstance(content, dict) else None


class _PerLoop:
    """One client with its connections for each event loop."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._clients = WeakKeyDictionary[asyncio.AbstractEventLoop, Any]()

    def client(self) -> Any:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._make()
        return self._clients[loop]

    def drop(self) -> Any:
        return self._clients.pop(asyncio.get_running_loop(), None)


class HttpxHttp:
    """Sends by httpx2 or httpx; `make` returns a client with settings of your own, such as `verify`."""

    def __init__(self, make: Callable[[], Any] | None = None) -> None:
        library = "httpx2" if find_spec("httpx2") else "httpx"
        self._each = _PerLoop(make or (lambda: import_module(library).AsyncClient()))

    async def send(
        self, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> Answer:
        request = {"method": "GET"} if form is None else {"method": "POST", "data": form}
        client = self._each.client()
        async with client.stream(
            url=url, headers=headers, follow_redirects=False, **request
        ) as response:
            return Answer(response.status_code, await _read(response.aiter_bytes()))

    async def aclose(self) -> None:
        client = self._each.drop()
        if client is not None:
            await client.aclose()


class AiohttpHttp:
    """Sends by aiohttp; `make` returns a session with settings of your own, such as its connector."""

    def __init__(self, make: Callable[[], Any] | None = None) -> None:
        self._each = _PerLoop(make or (lambda: import_module("aiohttp").ClientSession()))

    async def send(
        self, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> Answer:
        method, session = "GET" if form is None else "POST", self._each.client()
        async with session.request(
            method, url, headers=headers, data=form, allow_redirects=False
        ) as response:
            return Answer(response.status, await _read(response.content.iter_chunked(65536)))

    async def aclose(self) -> None:
        session = self._each.drop()
        if session is not None:
            await session.close()


def default_http() -> Http:
    """Return what sends by the library that is installed."""
    if find_spec("httpx2") or find_spec("httpx"):
        return HttpxHttp()
    if find_spec("aiohttp"):
        return AiohttpHttp()
    raise ImportError("install oauth-resource-server[httpx] or oauth-resource-server[aiohttp]")


async def _read(chunks: Any) -> bytes:
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > MAX_BYTES:
            raise TooLong
    return bytes(body)
