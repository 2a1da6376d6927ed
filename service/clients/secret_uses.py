"""Notes the day on which each secret of a client or an API was last used, so that operators see which one can go."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from hashlib import sha256
from typing import Literal, Never

import msgspec

from service.caching import BoundedCache
from service.clock import time_of
from service.model.client import Client
from service.model.handle import digest
from service.model.resources import Api, ApiResource
from service.model.secret import Secret
from service.store.keyvalue import StoreUnavailable
from service.store.stores import Stores
from service.store.verbs import steps

DAY = 24 * 60 * 60
KEPT = 400 * DAY
"""Seconds for which a day is remembered."""

REMEMBERED = 20_000
"""Secrets that this process knows to be noted today; of more, some are written again."""

REST = 5
"""Seconds until days are written again that the store has not taken."""

OwnerKind = Literal["client", "api_resource", "api_scope"]


class Owner(msgspec.Struct, frozen=True):
    """The party whose secret it is: a client and an API may have the same name."""

    kind: OwnerKind
    name: str

    @property
    def selector(self) -> str:
        return digest(f"{self.kind} {self.name}")


def owner_of(party: Client | Api) -> Owner:
    """Return the owner of the secrets: a client, an API resource or a scope value."""
    if isinstance(party, Client):
        return Owner("client", party.client_id)
    return Owner("api_resource" if isinstance(party, ApiResource) else "api_scope", party.name)


class Use(msgspec.Struct, frozen=True, gc=False):
    """A secret that a request has shown: its position in the list of its owner."""

    owner: Owner
    position: int
    mark: str
    key: str
    """By which a process remembers it."""

    @classmethod
    def of(cls, owner: Owner, secrets: Sequence[Secret], used: Secret) -> Use | None:
        """Return the use of one of these; None where it is no longer among them."""
        position = next((at for at, one in enumerate(secrets) if one is used), None)
        if position is None:
            return None
        return cls(owner, position, _mark_of(used), f"{position} {owner.kind} {owner.name}")


class SecretUses:
    """Remembers what was noted today: a request does one look-up, and another task writes, once a day for each secret."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._noted = BoundedCache[str, tuple[int, str]](REMEMBERED)
        self._unwritten: dict[str, tuple[int, Use]] = {}
        self._wake = asyncio.Event()

    def note(self, use: Use, now: int) -> None:
        """Note a use today; a process that is far behind with writing drops it until the next one."""
        day = now // DAY
        if self._noted.get_stale(use.key) == (day, use.mark) or len(self._unwritten) >= REMEMBERED:
            return
        self._noted.put(use.key, (day, use.mark))
        self._unwritten[use.key] = day, use
        self._wake.set()

    async def follow(self) -> Never:
        """Write what was noted, until the task is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._write()
            except StoreUnavailable:
                await asyncio.sleep(REST)
                self._wake.set()

    async def _write(self) -> None:
        records = self._stores.secret_uses
        for some in steps([*self._unwritten.items()]):
            await self._stores.kv.write(
                *[
                    records.put(
                        f"{day} {use.mark}", use.owner.selector, str(use.position), ttl=KEPT
                    )
                    for _, (day, use) in some
                ]
            )
            for key, noted in some:
                if self._unwritten.get(key) == noted:
                    del self._unwritten[key]

    async def find_days(
        self, owners: Sequence[tuple[Owner, Sequence[Secret]]]
    ) -> list[tuple[date | None, ...]]:
        """Return the last day of each secret of each owner; None for one that was not used in `KEPT`, or while the admin API was off."""
        reads = [
            self._stores.secret_uses.read(owner.selector, str(position))
            for owner, secrets in owners
            for position in range(len(secrets))
        ]
        found: list[str | None] = []
        for some in steps(reads):
            found += await self._stores.kv.read(*some)
        values = iter(found)
        return [tuple([_day_of(next(values), one) for one in secrets]) for _, secrets in owners]


def _day_of(value: str | None, secret: Secret) -> date | None:
    """Return the day, unless it is of another secret that was in this position before."""
    day, _, mark = (value or "").partition(" ")
    return time_of(int(day) * DAY).date() if day and mark == _mark_of(secret) else None


def _mark_of(secret: Secret) -> str:
    """Return eight bits that distinguish a secret from a later one at its position; they are too few to guess a secret by."""
    return sha256(secret.digest or str(secret.hash).encode()).hexdigest()[:2]
