"""Which origins belong to clients that registered themselves? (Fetch Standard §3.2)"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from service.model.handle import digest
from service.model.registered_client import RegisteredClient
from service.protocol.redirect_uri import origin_of
from service.store.stores import Index, Stores
from service.store.verbs import Write

FOR_EVER = 253402300799
"""The end of the year 9999: when a client without lifetime would expire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredOrigins:
    """An index for each origin; clients without lifetime are in one that does not end by itself."""

    stores: Stores
    now: Callable[[], int]

    async def includes(self, origin: str) -> bool:
        """Whether some client that is still there registered a redirect URI of this origin."""
        name, now = digest(origin), self.now()
        counts = await self.stores.kv.write(
            self.stores.registered_origins.count(name, now=now),
            self.stores.lasting_origins.count(name, now=now),
        )
        return any(counts)

    def note(self, record: RegisteredClient) -> Iterator[Write]:
        """The writes that let the client's own pages call the service."""
        until, now = record.expires_at or FOR_EVER, self.now()
        for name in _names(record):
            yield self._index(record).add(name, record.client_id, expires_at=until, now=now)

    def forget(self, record: RegisteredClient) -> Iterator[Write]:
        """The writes that take that back."""
        for name in _names(record):
            yield self._index(record).remove(name, record.client_id)

    def _index(self, record: RegisteredClient) -> Index:
        stores = self.stores
        return stores.lasting_origins if record.expires_at is None else stores.registered_origins


def _names(record: RegisteredClient) -> Iterable[str]:
    """The origins of the client's redirect URIs, by their digests."""
    redirect_uris = cast("list[str]", record.metadata.get("redirect_uris", []))
    origins = (origin_of(uri) for uri in redirect_uris)
    return dict.fromkeys(digest(origin) for origin in origins if origin is not None)
