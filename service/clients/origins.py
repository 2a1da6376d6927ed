"""Which origins belong to clients that registered themselves? (Fetch Standard §3.2)"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from service.model.handle import digest
from service.model.registered_client import RegisteredClient
from service.protocol.redirect_uri import origin_of
from service.store.stores import Stores
from service.store.verbs import Command

FOR_EVER = 253402300799
"""The end of the year 9999: when a client without lifetime would expire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredOrigins:
    """An index for each origin, which leaves with the last of its clients."""

    stores: Stores
    now: Callable[[], int]

    async def includes(self, origin: str) -> bool:
        """Whether some client that is still there registered a redirect URI of this origin."""
        (count,) = await self.stores.kv.write(
            self.stores.registered_origins.count(digest(origin), now=self.now())
        )
        return bool(count)

    async def note(self, record: RegisteredClient) -> None:
        """Let the client's own pages call the service.

        Where one origin has too many clients, those that leave first are not noted any more: the
        others stand for it.
        """
        origins, names = self.stores.registered_origins, list(_names(record))
        until, now = record.expires_at or FOR_EVER, self.now()
        counts = await self.stores.kv.write(
            *[origins.add(name, record.client_id, expires_at=until, now=now) for name in names]
        )
        for name, count in zip(names, counts, strict=True):
            surplus = await self.stores.surplus(origins, name, count=count)
            await self.stores.kv.write(*[origins.remove(name, one) for one in surplus])

    def forget(self, record: RegisteredClient) -> Iterator[Command]:
        """The writes that take that back."""
        for name in _names(record):
            yield self.stores.registered_origins.remove(name, record.client_id)


def _names(record: RegisteredClient) -> Iterable[str]:
    """The origins of the client's redirect URIs, by their digests."""
    redirect_uris = cast("list[str]", record.metadata.get("redirect_uris", []))
    origins = (origin_of(uri) for uri in redirect_uris)
    return dict.fromkeys(digest(origin) for origin in origins if origin is not None)
