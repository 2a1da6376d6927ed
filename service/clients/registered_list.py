"""Lists the clients that registered themselves, for operators."""

from __future__ import annotations

import asyncio

import msgspec

from service.clients.origins import FOREVER
from service.model.client_metadata import RegisteredClient
from service.store.keyvalue import StoreUnavailable
from service.store.records import Member, read_page
from service.store.stores import REGISTERED, Stores
from service.store.verbs import STEP, Command, Read

REST = 5
"""Seconds until the store is asked again."""
COMPLETE_FOR = 24 * 60 * 60
"""Seconds after which a start completes the list again: an older release, which ran beside this one, lists nothing."""


class RegisteredList(msgspec.Struct, frozen=True):
    """One index of all of them: those that expire last are first."""

    stores: Stores

    def add(self, record: RegisteredClient) -> Command:
        """Return the write that lists a client until it expires."""
        expires_at = record.expires_at or FOREVER
        return self.stores.registered_list.add(REGISTERED, record.client_id, expires_at=expires_at)

    def remove(self, client_id: str) -> Command:
        return self.stores.registered_list.remove(REGISTERED, client_id)

    async def find_page(self, after: Member | None, *, count: int) -> list[Member]:
        """Return the clients after this one, by their ids."""
        page = self.stores.registered_list.page(REGISTERED, after, count=count)
        (answer,) = await self.stores.kv.write(page)
        return read_page(answer)

    async def complete(self) -> None:
        """Add the clients that registered before there was a list, as soon as the store can be reached; it walks through it once a day at the most."""
        while True:
            try:
                return await self._complete()
            except StoreUnavailable:
                await asyncio.sleep(REST)

    async def _complete(self) -> None:
        stores, kv = self.stores, self.stores.kv
        (made,) = await kv.read(stores.registered_list_made.read(REGISTERED))
        if made:
            return
        records = stores.registered_clients
        async for keys in kv.find_key_batches(records.key("*"), size=STEP):
            found = await kv.read(*[Read(key, records.decode) for key in keys])
            await kv.write(*[self.add(one) for one in found if one is not None])
        await kv.write(stores.registered_list_made.put(True, REGISTERED, ttl=COMPLETE_FOR))
