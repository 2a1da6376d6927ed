"""Fetches request objects from URLs that the client registered, and keeps them for a moment (OIDC Core §6.2)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import structlog

from service.caching import BoundedCache
from service.clock import clock
from service.keys.jose import MAX_JWT_LENGTH
from service.model.client import Client
from service.model.outgoing import ClientHttp, HttpAnswer, HttpClient, HttpRequest, Unreachable
from service.protocol.errors import InvalidRequest, InvalidRequestUri, RefusedValue
from service.protocol.params import MAX_LENGTH
from service.single_flight import SingleFlight
from service.store.rate_limit import site_of

log = structlog.stdlib.get_logger(__name__)

LIFETIME = 60
"""Seconds until a request object is fetched again."""

FAILURE_LIFETIME = 5
"""Seconds for which a URL that could not be read is not asked again."""

MAX_KEPT = 200
"""Request objects, of 50 KiB at most."""

PER_MINUTE = 30
"""Fetches for one client that one address causes, whatever fragments the URLs have.

Anybody can send a client's request: a limit for the client alone would let one user stop all others.
"""

AT_ONCE = 10
"""Fetches by one HTTP client; its other connections are for keys, sector documents and logouts."""

PATIENCE = 5
"""Seconds for which a fetch waits for one of these."""

_NOTHING_THERE = "there is no request object behind request_uri"

_Place = tuple[HttpClient, str]
"""The client and the URL: what an unrestricted client has read is not shown to guarded ones."""


class RequestUris:
    """Fetches the content of a `request_uri`, whatever its Content-Type; one fetch at a time for each URL.

    The limits are those of this process: one slow or abusive client cannot affect others.
    """

    def __init__(self, http: ClientHttp) -> None:
        self._http = http
        self._texts: BoundedCache[_Place, str] = BoundedCache(MAX_KEPT)
        self._failures: BoundedCache[_Place, bool] = BoundedCache(MAX_KEPT)
        self._fetches: SingleFlight[_Place, None] = SingleFlight()
        self._minute = 0
        self._counted: Counter[tuple[str, str]] = Counter()
        self._places: dict[HttpClient, asyncio.Semaphore] = {}

    async def fetch(self, uri: str, client: Client, *, client_address: str) -> str:
        """Return the request object as it was read; InvalidRequestUri if none could be read.

        The fragment is a hash of the content by which the client says that it has changed: with
        another fragment it is fetched again, and the fragment is neither compared nor sent.
        `client_address` is the address that the request came from.
        """
        if len(uri) > MAX_LENGTH["request_uri"]:
            raise InvalidRequest("request_uri is too long")
        url = _without_fragment(uri)
        _check(url, client)
        http = self._http.choose(client)

        def start() -> Coroutine[Any, Any, None]:
            self._count(client, client_address)
            return self._read(http, uri)

        while True:
            if self._failures.get((http, url)):  # of whichever fragment
                raise InvalidRequestUri(_NOTHING_THERE)
            text = self._texts.get((http, uri))
            if text is not None:
                return text
            await self._fetches.run((http, url), start)

    def _count(self, client: Client, client_address: str) -> None:
        """Count a fetch that this address causes; raise InvalidRequestUri if it is one too many."""
        minute = clock() // 60
        if minute != self._minute:
            self._minute = minute
            self._counted.clear()
        key = client.client_id, site_of(client_address)
        if self._counted[key] >= PER_MINUTE:
            raise InvalidRequestUri("request_uri is fetched too often: try again in a minute")
        self._counted[key] += 1

    async def _read(self, http: HttpClient, uri: str) -> None:
        url = _without_fragment(uri)
        try:
            async with self._place(http):
                text = _text_of(await http.fetch(HttpRequest(url)))
        except (Unreachable, UnicodeDecodeError) as error:
            log.warning("a request object cannot be read", request_uri=url, reason=str(error))
            self._failures.put((http, url), value=True, seconds=FAILURE_LIFETIME)
            raise InvalidRequestUri(_NOTHING_THERE) from error
        self._texts.put((http, uri), text, seconds=LIFETIME)

    @asynccontextmanager
    async def _place(self, http: HttpClient) -> AsyncGenerator[None]:
        """Wait for a place among the fetches of this HTTP client; raise InvalidRequestUri if that takes long."""
        places = self._places.setdefault(http, asyncio.Semaphore(AT_ONCE))
        try:
            async with asyncio.timeout(PATIENCE):
                await places.acquire()
        except TimeoutError as error:
            raise InvalidRequestUri("request_uri cannot be fetched now: try again") from error
        try:
            yield
        finally:
            places.release()


def _check(url: str, client: Client) -> None:
    """Raise InvalidRequestUri unless the client registered the URL (RFC 9101 §10.4)."""
    if url not in map(_without_fragment, client.request_uris or ()):
        raise InvalidRequestUri(
            "request_uri is not one that the client registered",
            refused=RefusedValue("request_uri", url, client.client_id),
        )
    if client.dynamically_registered and not url.startswith("https://"):
        raise InvalidRequestUri("request_uri has to be https")


def _without_fragment(uri: str) -> str:
    return uri.partition("#")[0]


def _text_of(answer: HttpAnswer) -> str:
    if answer.status != HTTPStatus.OK or len(answer.body) > MAX_JWT_LENGTH:
        raise Unreachable(f"status {answer.status}, {len(answer.body)} bytes")
    return answer.body.decode("ascii").strip()
