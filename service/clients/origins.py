"""Knows the web pages of dynamically registered clients, whose scripts may call the service (Fetch Standard §3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import msgspec

from service.model.client_metadata import RegisteredClient
from service.model.handle import digest
from service.protocol.redirect_uri import origin_of
from service.store.stores import Stores
from service.store.verbs import Command

FOREVER = 253402300799
"""The end of the year 9999, as the expiry of a client without a lifetime."""


class RegisteredOrigins(msgspec.Struct, frozen=True, kw_only=True):
    """The origins whose scripts may call the service: one index each, which expires with its last client (Fetch Standard §3.2)."""

    stores: Stores

    async def includes(self, origin: str) -> bool:
        """Return whether an unexpired client registered a redirect URI of this origin."""
        count = self.stores.registered_origins.count(digest(origin))
        return bool((await self.stores.kv.write(count))[0])

    async def add(self, record: RegisteredClient) -> None:
        """Add the client to its origins; at an origin with too many, those that expire first are removed."""
        origins, names = self.stores.registered_origins, origin_digests(record)
        expires_at = record.expires_at or FOREVER
        counts = await self.stores.kv.write(
            *[origins.add(name, record.client_id, expires_at=expires_at) for name in names]
        )
        for name, count in zip(names, counts, strict=True):
            surplus = await self.stores.find_surplus(origins, name, count=count)
            await self.stores.kv.write(*[origins.remove(name, one) for one in surplus])

    def remove(self, record: RegisteredClient) -> Iterator[Command]:
        """Yield the writes that remove the client from its origins."""
        for name in origin_digests(record):
            yield self.stores.registered_origins.remove(name, record.client_id)


def origin_digests(record: RegisteredClient) -> set[str]:
    """Return the digests of the origins of its redirect URIs."""
    redirect_uris = cast("list[str]", record.metadata.get("redirect_uris", []))
    return {digest(origin) for uri in redirect_uris if (origin := origin_of(uri)) is not None}
