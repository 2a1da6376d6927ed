"""Keeps the user of each passkey (WebAuthn Level 3 §7)."""

from __future__ import annotations

import msgspec

from service.model.handle import digest
from service.store.stores import Stores


class PasskeyOwners(msgspec.Struct, frozen=True):
    """Finds the owner of a passkey, because authenticators do not send the user's `sub`."""

    stores: Stores

    async def claim(self, credential_id: str, sub: str) -> bool:
        """Note whose passkey it is; False if it is another user's (WebAuthn §7.1)."""
        records, kv = self.stores.passkey_owners, self.stores.kv
        key = digest(credential_id)
        is_new = await kv.replace(records.key(key), old=None, new=records.encode(sub))
        return is_new or await self.find(credential_id) == sub

    async def find(self, credential_id: str) -> str | None:
        """Return the subject identifier of the passkey's user."""
        (sub,) = await self.stores.kv.read(self.stores.passkey_owners.read(digest(credential_id)))
        return sub

    async def release(self, credential_id: str) -> None:
        await self.stores.kv.write(self.stores.passkey_owners.drop(digest(credential_id)))
