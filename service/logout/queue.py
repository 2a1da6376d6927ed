"""Keeps deliveries in the store: any replica may take one, and only one at a time does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from service.model.session import LogoutDelivery
from service.store.stores import LOGOUT, Stores

LEASE_MARGIN = 5
"""Seconds by which a lease is longer than a request may take: for the token and the store."""


@dataclass(slots=True, kw_only=True)
class LogoutQueue:
    """Takes due deliveries under a lease; one that its taker did not return is due again after it.

    So every client gets at least one logout token, whichever process stops at whichever moment.
    """

    stores: Stores
    lease: int
    """Seconds; longer than an attempt can take."""
    now: Callable[[], int]
    waiting: int = 0
    """The number of deliveries when `find_due` was last called."""

    async def find_due(self, at_most: int) -> tuple[LogoutDelivery, ...]:
        """Return deliveries whose time has come, the earliest first; they stay in the queue."""
        queue = self.stores.logout_queue
        due, self.waiting = await self.stores.kv.write(
            queue.due(now=self.now(), at_most=at_most), queue.count()
        )
        return await self._read([delivery_id.decode() for delivery_id in due])

    async def take(self, due: Collection[str]) -> tuple[LogoutDelivery, ...]:
        """Lease those of these ids that no other process has."""
        queue, leases, now = self.stores.logout_queue, self.stores.logout_leases, self.now()
        answers = await self.stores.kv.write(
            *[leases.put_new(True, LOGOUT, one, ttl=self.lease) for one in due],
            *[queue.defer(one, due=now + self.lease) for one in due],
        )
        return await self._read([one for one, won in zip(due, answers, strict=False) if won])

    async def defer(self, due: Iterable[LogoutDelivery], *, seconds: int) -> None:
        """Make deliveries that nobody has taken due again after some seconds."""
        queue, later = self.stores.logout_queue, self.now() + seconds
        await self.stores.kv.write(*[queue.defer(one.id, due=later) for one in due])

    async def postpone(self, delivery: LogoutDelivery, *, seconds: int) -> None:
        """Return a delivery that failed once more; it is due again after some seconds."""
        failed = replace(delivery, failures=delivery.failures + 1)
        await self.give_back(failed, seconds=seconds)

    async def give_back(self, delivery: LogoutDelivery, *, seconds: int = 0) -> None:
        """Return a delivery that was taken."""
        await self.stores.kv.write(
            self.stores.logout_deliveries.rewrite(delivery, LOGOUT, delivery.id),
            self.stores.logout_queue.add(delivery.id, due=self.now() + seconds),
            self.stores.logout_leases.drop(LOGOUT, delivery.id),
        )

    async def remove(self, delivery_id: str) -> None:
        """Forget a delivery that has arrived, or never will."""
        await self.stores.kv.write(
            self.stores.logout_deliveries.drop(LOGOUT, delivery_id),
            self.stores.logout_queue.remove(delivery_id),
            self.stores.logout_leases.drop(LOGOUT, delivery_id),
        )

    async def _read(self, ids: Collection[str]) -> tuple[LogoutDelivery, ...]:
        """Return the deliveries of these ids, and forget the ids of those that have expired."""
        deliveries = self.stores.logout_deliveries
        found = await self.stores.kv.read(*[deliveries.read(LOGOUT, one) for one in ids])
        for one, delivery in zip(ids, found, strict=True):
            if delivery is None:
                await self.remove(one)
        return tuple(delivery for delivery in found if delivery is not None)
