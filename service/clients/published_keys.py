"""Finds the keys of clients, APIs and trusted issuers, and fetches those behind `jwks_uri` when they are needed (RFC 7591 §2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from http import HTTPStatus

import msgspec
import structlog

from service.caching import BoundedCache
from service.clock import clock
from service.keys.foreign_keys import ForeignKeys, UnknownKey
from service.keys.jose import VerifiedClaims
from service.model.outgoing import ClientHttp, HttpClient, HttpRequest, Unreachable
from service.model.registry import KeyOwner
from service.protocol.json_input import parse_json
from service.single_flight import SingleFlight

log = structlog.stdlib.get_logger(__name__)

LIFETIME = 300
"""Seconds until a JWK set is fetched again."""

PAUSE = 30
"""Seconds between two requests that an unknown key id or a failure causes."""

MAX_SETS = 500

NO_KEYS = ForeignKeys(())


class _Fetched(msgspec.Struct, frozen=True):
    keys: ForeignKeys
    renewable_from: int
    """Before this time an unknown key id causes no request, however often it is sent.

    The first one after a regular fetch may cause one at once: clients change their keys and use them.
    """


_Place = tuple[HttpClient, str]
"""The client and the URI: keys that were read by an unrestricted client are not shown to guarded ones."""


def read_jwks(body: bytes) -> tuple[ForeignKeys, int]:
    """Return the keys of a JWK set, and for how many seconds they count."""
    return ForeignKeys.parse(body), LIFETIME


class PublishedKeys:
    """Fetches each JWK set once for all callers at the same time; `read` raises ValueError for anything else than a JWK set."""

    def __init__(
        self,
        http: ClientHttp,
        size: int = MAX_SETS,
        *,
        read: Callable[[bytes], tuple[ForeignKeys, int]] = read_jwks,
    ) -> None:
        self.http = http
        self._read = read
        self._fetched: BoundedCache[_Place, _Fetched] = BoundedCache(size)
        self._fetches: SingleFlight[_Place, _Fetched] = SingleFlight()

    async def find(self, owner: KeyOwner, *, renewed: bool = False) -> ForeignKeys:
        """Return the registered keys, or those behind `jwks_uri` as they were fetched a while ago.

        `renewed` fetches them now, unless an unknown key id has just caused a request.
        """
        if owner.jwks is not None:
            return _parse_registered_keys(json.dumps(owner.jwks))
        if owner.jwks_uri is None:
            return NO_KEYS
        place = self.http.choose(owner), owner.jwks_uri
        fetched = self._fetched.get_stale(place) if renewed else self._fetched.get(place)
        if fetched is None or (renewed and clock() >= fetched.renewable_from):
            renewable_from = clock() + PAUSE if renewed else 0
            fetched = await self._fetches.run(place, lambda: self._fetch(place, renewable_from))
        return fetched.keys

    async def verify(
        self, token: str, header: Mapping[str, object], owner: KeyOwner
    ) -> VerifiedClaims:
        """Return the claims of a JWT with this accepted header that the owner signed; raise JwtRefused otherwise."""
        keys = await self.find(owner)
        try:
            return keys.verify(token, header)
        except UnknownKey:
            renewed = await self.find(owner, renewed=True)
            if renewed == keys:
                raise
            return renewed.verify(token, header)

    async def _fetch(self, place: _Place, renewable_from: int) -> _Fetched:
        """Fetch the keys; after a failure, the keys that were there count a little longer."""
        now, (http, uri) = clock(), place
        try:
            answer = await http.fetch(HttpRequest(uri))
            if answer.status != HTTPStatus.OK:
                raise Unreachable(f"status {answer.status}")  # noqa: TRY301 - logged below
            keys, seconds = self._read(answer.body)
            fetched = _Fetched(keys, renewable_from)
        except (Unreachable, ValueError) as error:
            log.warning("published keys cannot be read", jwks_uri=uri, reason=str(error))
            before = self._fetched.get_stale(place)
            fetched, seconds = _Fetched(before.keys if before else NO_KEYS, now + PAUSE), PAUSE
        self._fetched.put(place, fetched, seconds=seconds)
        return fetched


@lru_cache(maxsize=500)  # parsing keys is slow
def _parse_registered_keys(jwks: str) -> ForeignKeys:
    try:
        return ForeignKeys.from_jwks(parse_json(jwks))
    except ValueError:
        return NO_KEYS
