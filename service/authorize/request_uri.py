"""Fetches request objects from URLs that the client registered, and keeps them for a moment (OIDC Core §6.2)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, cast

import structlog

from service.authorize.fetch_limits import FetchLimits
from service.caching.bounded_cache import BoundedCache
from service.caching.single_flight import SingleFlight
from service.clients.client_http import ClientHttp
from service.keys.jose import MAX_JWT_LENGTH
from service.model.client import Client
from service.model.outgoing import HttpClient, Unreachable
from service.protocol.errors import InvalidRequest, InvalidRequestUri
from service.protocol.params import MAX_LENGTH
from service.protocol.refused_value import RefusedValue

log = structlog.stdlib.get_logger(__name__)

LIFETIME = 60
"""Seconds until a request object is fetched again."""

FAILURE_LIFETIME = 5
"""Seconds for which a URL that could not be read is not asked again."""

MAX_KEPT = 200
"""Request objects, of 50 KiB at most."""

_NOTHING_THERE = "there is no request object behind request_uri"

_Place = tuple[HttpClient, str]
"""The client and the URL: what an unrestricted client has read is not shown to guarded ones."""


class RequestUris:
    """Fetches the content of a `request_uri`, whatever its Content-Type; one fetch at a time for each URL."""

    def __init__(self, http: ClientHttp, *, now: Callable[[], int]) -> None:
        self._http = http
        self._limits = FetchLimits(now=now)
        self._texts: BoundedCache[_Place, str] = BoundedCache(MAX_KEPT, now=now)
        self._failures: BoundedCache[_Place, bool] = BoundedCache(MAX_KEPT, now=now)
        self._fetches: SingleFlight[_Place, None] = SingleFlight()

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
            self._limits.count(client, client_address)
            return self._read(http, uri)

        while (text := self._find(http, uri)) is None:
            await self._fetches.run((http, url), start)
        return text

    def _find(self, http: HttpClient, uri: str) -> str | None:
        """Return what was read a moment ago; a failure counts for every fragment of the URL."""
        if self._failures.get((http, _without_fragment(uri))):
            raise InvalidRequestUri(_NOTHING_THERE)
        return self._texts.get((http, uri))

    async def _read(self, http: HttpClient, uri: str) -> None:
        """Read it, within the limits, and keep the text or the failure."""
        url = _without_fragment(uri)
        async with self._limits.take_place(http):
            try:
                text = await _read(http, url)
            except InvalidRequestUri:
                self._failures.put((http, url), value=True, seconds=FAILURE_LIFETIME)
                raise
        self._texts.put((http, uri), text, seconds=LIFETIME)


def _check(url: str, client: Client) -> None:
    """Raise InvalidRequestUri unless the client registered the URL (RFC 9101 §10.4)."""
    registered = cast("tuple[str, ...]", client.metadata.get("request_uris", ()))
    if url not in map(_without_fragment, registered):
        raise InvalidRequestUri(
            "request_uri is not one that the client registered",
            refused=RefusedValue("request_uri", url, client.client_id),
        )
    if client.dynamically_registered and not url.startswith("https://"):
        raise InvalidRequestUri("request_uri has to be https")


def _without_fragment(uri: str) -> str:
    return uri.partition("#")[0]


async def _read(http: HttpClient, url: str) -> str:
    text, problem = "", ""
    try:
        answer = await http.fetch(url)
        text = answer.body[: MAX_JWT_LENGTH + 1].decode("ascii").strip()
        if answer.status != HTTPStatus.OK or len(answer.body) > MAX_JWT_LENGTH:
            problem = f"status {answer.status}, {len(answer.body)} bytes"
    except (Unreachable, UnicodeDecodeError) as error:
        problem = str(error)
    if problem:
        log.warning("a request object cannot be read", request_uri=url, reason=problem)
        raise InvalidRequestUri(_NOTHING_THERE)
    return text
