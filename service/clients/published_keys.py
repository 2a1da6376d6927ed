"""The JWK sets behind `jwks_uri`, fetched when they are needed and kept for a while (RFC 7591 §2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from service.keys.foreign_keys import ForeignKeys
from service.model.outgoing import HttpClient, Unreachable

log = structlog.stdlib.get_logger(__name__)

LIFETIME = 300
"""Seconds for which a JWK set is taken as it was read."""

PAUSE = 30
"""Seconds between two looks that an unknown key, or the set's absence, causes."""

MAX_SETS = 500
"""How many are kept; the one that was read first makes room."""

_OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What the last look has shown; no keys where none has shown any yet."""

    keys: ForeignKeys | None
    next_at: int
    """When it is time to look again anyway."""
    renewable_from: int
    """An unknown key before this moment causes no request, whoever sends it how often.

    The first one after a look at its time may cause one at once: clients change their keys and use them.
    """


_Place = tuple[HttpClient, str]
"""The way there counts too: nobody sees what was read on a way that is closed to them."""


class PublishedKeys:
    """One look at a time for each URI; who comes meanwhile waits for the same one."""

    def __init__(self, *, now: Callable[[], int]) -> None:
        """Take the clock."""
        self._now = now
        self._looks: dict[_Place, _Look] = {}
        self._looking: dict[_Place, asyncio.Task[_Look]] = {}

    async def find(self, uri: str, http: HttpClient) -> ForeignKeys | None:
        """The keys as they were read a while ago; None where they never could be."""
        look = self._looks.get((http, uri))
        if look is None or self._now() >= look.next_at:
            look = await self._look((http, uri), renewable_from=0)
        return look.keys

    async def find_renewed(self, uri: str, http: HttpClient) -> ForeignKeys | None:
        """The keys as they are now, if nobody asked for that just before."""
        look = self._looks.get((http, uri))
        if look is None or self._now() >= look.renewable_from:
            look = await self._look((http, uri), renewable_from=self._now() + PAUSE)
        return look.keys

    async def _look(self, place: _Place, *, renewable_from: int) -> _Look:
        looking = self._looking.get(place)
        if looking is None:
            looking = asyncio.create_task(self._fetch(place, renewable_from))
            self._looking[place] = looking
            looking.add_done_callback(lambda _: self._looking.pop(place))
        return await asyncio.shield(looking)

    async def _fetch(self, place: _Place, renewable_from: int) -> _Look:
        """The keys that are there now, or else those there were; either way it is over for a while."""
        before = self._looks.pop(place, None)
        now = self._now()
        try:
            keys = await _read(*place)
            look = _Look(keys=keys, next_at=now + LIFETIME, renewable_from=renewable_from)
        except (Unreachable, ValueError) as error:
            log.warning("a client's keys cannot be read", jwks_uri=place[1], reason=str(error))
            known = before.keys if before is not None else None
            look = _Look(keys=known, next_at=now + PAUSE, renewable_from=now + PAUSE)
        self._keep(place, look)
        return look

    def _keep(self, place: _Place, look: _Look) -> None:
        while len(self._looks) >= MAX_SETS:
            del self._looks[next(iter(self._looks))]
        self._looks[place] = look


async def _read(http: HttpClient, uri: str) -> ForeignKeys:
    answer = await http.get(uri)
    if answer.status != _OK:
        raise Unreachable(f"status {answer.status}")
    return ForeignKeys.parse(answer.body)
