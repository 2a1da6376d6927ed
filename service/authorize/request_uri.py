"""Request objects by reference: fetched from a URL that the client registered, and kept for a moment (OIDC Core §6.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast
from weakref import WeakValueDictionary

import structlog

from service.authorize.fetch_limits import FetchLimits
from service.clients.http import ClientHttp
from service.keys.jose import MAX_JWT_LENGTH
from service.model.client import Client
from service.model.outgoing import HttpClient, Unreachable
from service.protocol.errors import InvalidRequest, InvalidRequestUri
from service.protocol.params import MAX_LENGTH
from service.protocol.refused_value import RefusedValue

log = structlog.stdlib.get_logger(__name__)

LIFETIME = 60
"""Seconds for which a request object is taken as it was read."""

FAILURE_LIFETIME = 5
"""Seconds for which a URL that could not be read is not asked again."""

MAX_KEPT = 200
"""How many are kept, each of 50 KiB at most; the one that was read first makes room."""

_NOTHING_THERE = "there is no request object behind request_uri"

_OK = 200

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Kept:
    text: str
    until: int


_Place = tuple[HttpClient, str]
"""With the way there, so that nobody sees what was read on a way that is closed to them."""


class RequestUris:
    """Fetches what stands behind a `request_uri`, whatever its Content-Type; one fetch at a time for each URL."""

    def __init__(self, http: ClientHttp, *, now: Callable[[], int]) -> None:
        """Take the ways out and the clock."""
        self._http = http
        self._now = now
        self._limits = FetchLimits(now=now)
        self._kept: dict[_Place, _Kept] = {}
        self._failed: dict[_Place, int] = {}
        self._turns: WeakValueDictionary[_Place, asyncio.Lock] = WeakValueDictionary()

    async def fetch(self, uri: str, client: Client, *, client_address: str) -> str:
        """The request object as it was read; InvalidRequestUri where nothing of the kind is there.

        The fragment is a hash of the content by which the client says that it has changed: another
        one is another place to remember, and it is neither compared nor sent. `client_address` is the
        address that the request came from.
        """
        if len(uri) > MAX_LENGTH["request_uri"]:
            raise InvalidRequest("request_uri is too long")
        url = _without_fragment(uri)
        _check(url, client)
        way = self._http.for_(client)
        kept = self._known(way, uri)
        if kept is None:
            async with self._turns.setdefault((way, url), asyncio.Lock()):
                kept = self._known(way, uri) or await self._look(way, uri, client, client_address)
        return kept.text

    def _known(self, way: HttpClient, uri: str) -> _Kept | None:
        """What was read a moment ago; a failure counts for every fragment of the URL."""
        url = _without_fragment(uri)
        if self._now() < self._failed.get((way, url), 0):
            raise InvalidRequestUri(_NOTHING_THERE)
        kept = self._kept.get((way, uri))
        return kept if kept is not None and self._now() < kept.until else None

    async def _look(self, way: HttpClient, uri: str, client: Client, client_address: str) -> _Kept:
        """Fetch it, within the limits, and remember what comes of it."""
        url = _without_fragment(uri)
        self._limits.count(client, client_address)
        async with self._limits.place(way):
            try:
                text = await _read(way, url)
            except InvalidRequestUri:
                _keep(self._failed, (way, url), self._now() + FAILURE_LIFETIME)
                raise
        kept = _Kept(text, self._now() + LIFETIME)
        _keep(self._kept, (way, uri), kept)
        return kept


def _keep(memory: dict[_Place, _T], place: _Place, what: _T) -> None:
    memory.pop(place, None)
    while len(memory) >= MAX_KEPT:
        del memory[next(iter(memory))]
    memory[place] = what


def _check(url: str, client: Client) -> None:
    """Only what was registered is fetched, and nothing else that a request names (RFC 9101 §10.4)."""
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
    try:
        answer = await http.get(url)
        text = answer.body[: MAX_JWT_LENGTH + 1].decode("ascii").strip()
    except (Unreachable, UnicodeDecodeError) as error:
        raise _unreadable(url, str(error)) from error
    if answer.status != _OK or len(answer.body) > MAX_JWT_LENGTH:
        raise _unreadable(url, f"status {answer.status}, {len(answer.body)} bytes")
    return text


def _unreadable(url: str, reason: str) -> InvalidRequestUri:
    log.warning("a request object cannot be read", request_uri=url, reason=reason)
    return InvalidRequestUri(_NOTHING_THERE)
