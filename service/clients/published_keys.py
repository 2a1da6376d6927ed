"""Fetches the JWK sets behind `jwks_uri` when they are needed, and keeps them for a while (RFC 7591 §2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import structlog

from service.caching import BoundedCache, SingleFlight
from service.keys.foreign_keys import ForeignKeys
from service.model.outgoing import HttpClient, Unreachable

log = structlog.stdlib.get_logger(__name__)

LIFETIME = 300
"""Seconds until a JWK set is fetched again."""

PAUSE = 30
"""Seconds between two requests that an unknown key id or a failure causes."""

MAX_SETS = 500

_OK = 200


class _Fetched(NamedTuple):
    """The keys, None if they could never be fetched."""

    keys: ForeignKeys | None
    renewable_from: int
    """Before this time an unknown key id causes no request, however often it is sent.

    The first one after a regular fetch may cause one at once: clients change their keys and use them.
    """


_Place = tuple[HttpClient, str]
"""The client and the URI: keys that were read by an unrestricted client are not shown to guarded ones."""


class PublishedKeys:
    """Fetches each JWK set once for all who need it at the same time."""

    def __init__(self, *, now: Callable[[], int], size: int = MAX_SETS) -> None:
        self._now = now
        self._fetched: BoundedCache[_Place, _Fetched] = BoundedCache(size, now=now)
        self._fetches: SingleFlight[_Place, _Fetched] = SingleFlight()

    async def find(self, uri: str, http: HttpClient) -> ForeignKeys | None:
        """Return the keys as they were fetched a while ago; None if they could never be fetched."""
        fetched = self._fetched.get((http, uri)) or await self._fetch(http, uri, renewable_from=0)
        return fetched.keys

    async def find_renewed(self, uri: str, http: HttpClient) -> ForeignKeys | None:
        """Return the keys as they are now, unless an unknown key id has just caused a request."""
        fetched = self._fetched.get_stale((http, uri))
        if fetched is None or self._now() >= fetched.renewable_from:
            fetched = await self._fetch(http, uri, renewable_from=self._now() + PAUSE)
        return fetched.keys

    async def _fetch(self, http: HttpClient, uri: str, *, renewable_from: int) -> _Fetched:
        return await self._fetches.run(
            (http, uri), lambda: self._fetch_anew(http, uri, renewable_from)
        )

    async def _fetch_anew(self, http: HttpClient, uri: str, renewable_from: int) -> _Fetched:
        """Fetch the keys; after a failure, the keys that were there count a little longer."""
        now = self._now()
        try:
            fetched, seconds = _Fetched(await _read(http, uri), renewable_from), LIFETIME
        except (Unreachable, ValueError) as error:
            log.warning("a client's keys cannot be read", jwks_uri=uri, reason=str(error))
            before = self._fetched.get_stale((http, uri))
            fetched, seconds = _Fetched(before.keys if before else None, now + PAUSE), PAUSE
        self._fetched.put((http, uri), fetched, seconds=seconds)
        return fetched


async def _read(http: HttpClient, uri: str) -> ForeignKeys:
    answer = await http.fetch(uri)
    if answer.status != _OK:
        raise Unreachable(f"status {answer.status}")
    return ForeignKeys.parse(answer.body)
