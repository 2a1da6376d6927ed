"""Request objects by reference: fetched from a URL that the client registered, and kept for a moment (OIDC Core §6.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import structlog

from service.clients.http import ClientHttp
from service.keys.jose import MAX_JWT_LENGTH
from service.model.client import Client
from service.model.outgoing import HttpClient, Unreachable
from service.protocol.errors import InvalidRequest, InvalidRequestUri
from service.protocol.params import MAX_LENGTH

log = structlog.stdlib.get_logger(__name__)

LIFETIME = 60
"""Seconds for which a request object is taken as it was read."""

MAX_KEPT = 200
"""How many are kept, each of 50 KiB at most; the one that was read first makes room."""

_OK = 200


@dataclass(frozen=True, slots=True)
class _Kept:
    text: str
    until: int


_Place = tuple[HttpClient, str]
"""With the way there, so that nobody sees what was read on a way that is closed to them."""


class RequestUris:
    """Fetches what stands behind a `request_uri`, whatever its Content-Type."""

    def __init__(self, http: ClientHttp, *, now: Callable[[], int]) -> None:
        """Take the ways out and the clock."""
        self._http = http
        self._now = now
        self._kept: dict[_Place, _Kept] = {}

    async def fetch(self, uri: str, client: Client) -> str:
        """The request object as it was read; InvalidRequestUri where nothing of the kind is there.

        The fragment is a hash of the content by which the client says that it has changed: another
        one is another place to remember, and it is neither compared nor sent.
        """
        if len(uri) > MAX_LENGTH["request_uri"]:
            raise InvalidRequest("request_uri is too long")
        url = _without_fragment(uri)
        _check(url, client)
        place = (self._http.for_(client), uri)
        kept = self._kept.get(place)
        if kept is None or self._now() >= kept.until:
            kept = _Kept(await _read(place[0], url), self._now() + LIFETIME)
            self._keep(place, kept)
        return kept.text

    def _keep(self, place: _Place, kept: _Kept) -> None:
        self._kept.pop(place, None)
        while len(self._kept) >= MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[place] = kept


def _check(url: str, client: Client) -> None:
    """Only what was registered is fetched, and nothing else that a request names (RFC 9101 §10.4)."""
    registered = cast("tuple[str, ...]", client.metadata.get("request_uris", ()))
    if url not in map(_without_fragment, registered):
        raise InvalidRequestUri("request_uri is not one that the client registered")
    if client.registered and not url.startswith("https://"):
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
    return InvalidRequestUri("there is no request object behind request_uri")
