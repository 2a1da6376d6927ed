"""Remembers answers to introspection, for as long as nothing that they were made of has changed."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b

import msgspec

from service.clock import clock
from service.events.tokens import TokenIntrospected
from service.keys.keyring import KeyRing
from service.model.registry import LiveRegistry, Registry
from service.model.resources import Api
from service.store.tracking import Kept, Tracking
from service.tokens.active import ActiveToken
from service.web.endpoint import Answer, Fields, WholeRequest

_READ_HEADERS = ("Authorization", "Accept", "Content-Type", "Content-Encoding")
_READ = "what introspection reads of it"

Sources = tuple[Registry, bytes]
"""The registry and the published keys."""


class Remembered(msgspec.Struct, frozen=True, kw_only=True, gc=False):  # as `Kept`
    """An answer, and the records that it was made of."""

    fields: Fields
    body: bytes
    event: TokenIntrospected
    expires_at: int
    kept: tuple[Kept, ...]


class RememberedAnswers:
    """Finds the answer to the same request again; what a user, a client or the registry may change is looked at each time.

    An answer is remembered only if it follows from tracked records and the registry alone: never where users
    come from elsewhere.
    """

    def __init__(self, tracking: Tracking, registry: LiveRegistry, ring: KeyRing) -> None:
        self._tracking = tracking
        self._registry = registry
        self._ring = ring
        self._sources = self.sources()
        self._known = OrderedDict[bytes, Remembered]()
        """Answers that were made of these sources."""

    def sources(self) -> Sources:
        """Return what an answer is made of, to be taken before it is made: a reload may come in between."""
        return self._registry.current, self._ring.public_jwks

    def find(self, key: bytes) -> Remembered | None:
        """Return the answer if it still is right."""
        known = self._known.get(key)
        if (
            known is None
            or not self._are_current(self._sources)
            or known.expires_at <= clock()
            or not self._tracking.is_fresh
        ):
            return None
        for kept in known.kept:
            if not kept.is_current:
                return None
        return known

    def remember(
        self, key: bytes, answer: Answer, token: ActiveToken, api: Api, sources: Sources
    ) -> None:
        """Remember the answer about an active token that is kept, if it can be found out later whether it still is right."""
        if not self._are_current(sources):
            return
        authorization, client_id = token.authorization, str(token.claims["client_id"])
        follows_from_registry = client_id in sources[0].permissions and not any(
            secret.expires_at for secret in api.secrets
        )
        is_own = "act" not in token.claims and (
            authorization is None
            or (authorization.client_id == client_id and authorization.source is None)
        )
        if not (follows_from_registry and is_own):
            return
        if not self._are_current(self._sources):
            self._known.clear()  # else each reload would leave its registry in memory
            self._sources = sources
        if len(self._known) >= self._tracking.entries // 2:
            self._known.popitem(last=False)
        self._known[key] = Remembered(
            fields=answer.fields,
            body=_copy(answer.body),
            event=TokenIntrospected(caller=api.name, active=True),
            expires_at=token.expires_at,
            kept=token.kept,
        )

    def _are_current(self, sources: Sources) -> bool:
        return sources[0] is self._registry.current and sources[1] is self._ring.public_jwks


def _copy(body: bytes) -> bytes:
    """Return the same bytes in no more memory than they need: an encoder leaves what it made in half as much again."""
    return bytes(memoryview(body))


def key_of(request: WholeRequest) -> bytes:
    """Return a hash of all that the answer depends on."""
    read = request.of_head.get(_READ)
    if read is None:
        found = [",".join(request.headers.getall(name, ())) for name in _READ_HEADERS]
        # Short, so that the hash below mostly is one of a single block.
        headers = "\n".join(found).encode(errors="surrogateescape")
        read = blake2b(headers, digest_size=24).digest()
        request.of_head[_READ] = read
    return blake2b(read + request.body).digest()
