"""Remembers users for the time in which their system does not answer, for all replicas (`users.grace`)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

import msgspec

from service.caching import BoundedCache
from service.keys.sealing import Seal, Unreadable
from service.model.handle import digest
from service.model.user import User
from service.store.keyvalue import StoreUnavailable
from service.store.records import Encoding
from service.store.stores import Stores

REMEMBERED = 10_000
"""Users that a process knows to have written lately."""

RENEWALS = 10
"""How often within the grace a user that is asked for all the time is written."""


class SeenUser(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a record: an enabled user, without the hash of the password."""

    sub: str
    username: str
    claims: dict[str, object]


CONTENT = Encoding("last_seen", SeenUser)


class LastSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The enabled users of another system as they were when it last answered."""

    stores: Stores
    seal: Seal
    grace: int
    """Seconds for which a user counts as it was; 0 keeps nothing."""
    _written: BoundedCache[str, User] = msgspec.field(
        default_factory=lambda: BoundedCache(REMEMBERED)
    )

    async def note(self, sub: str, user: User | None) -> None:
        """Remember what the system says of a user; forget a disabled or deleted one."""
        if not self.grace or (user is not None and self._written.get(sub) == user):
            return
        records, owner = self.stores.last_seen, digest(sub)
        if user is None or not user.enabled:
            write = records.drop(owner)
        else:
            seen = SeenUser(sub=user.sub, username=user.username, claims={**user.claims})
            sealed = self.seal.seal_text(CONTENT.encode(seen).decode())
            write = records.put(sealed, owner, ttl=self.grace)
        with suppress(StoreUnavailable):  # the answer does not depend on it
            await self.stores.kv.write(write)
            if user is not None and user.enabled:
                self._written.put(sub, user, seconds=self.grace / RENEWALS)

    async def find(self, sub: str) -> User | None:
        """Return the user as it was last seen; None if that is longer ago, or not readable."""
        if not self.grace:
            return None
        (sealed,) = await self.stores.kv.read(self.stores.last_seen.read(digest(sub)))
        if sealed is None:
            return None
        try:
            seen = CONTENT.decode(self.seal.open_text(sealed).encode())
        except (Unreadable, msgspec.DecodeError, ValueError):
            return None
        if seen.sub != sub:
            return None
        return User(sub=sub, username=seen.username, claims=cast("Any", seen.claims))
