"""Deliveries that wait in the store: any replica may take one, and only one at a time does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from service.model.session import LogoutDelivery
from service.store.stores import LOGOUT, Stores
from service.store.verbs import Read

LEASE_MARGIN = 5
"""Seconds by which a lease is longer than a request may take: for the token and the store."""


@dataclass(slots=True, kw_only=True)
class LogoutQueue:
    """Takes what is due under a lease; what its taker never gave back is due again after it.

    So every client is told at least once, whichever process stops at whichever moment.
    """

    stores: Stores
    lease: int
    """Seconds; longer than an attempt can take."""
    now: Callable[[], int]
    waiting: int = 0
    """How many deliveries there were at the last look."""

    async def due(self, at_most: int) -> tuple[LogoutDelivery, ...]:
        """Deliveries whose time has come, the earliest first; they stay where they are."""
        queue = self.stores.logout_queue
        due, self.waiting = await self.stores.kv.write(
            queue.due(now=self.now(), at_most=at_most), queue.count()
        )
        return await self._found([delivery_id.decode() for delivery_id in due])

    async def take(self, due: Collection[str]) -> tuple[LogoutDelivery, ...]:
        """Those of these ids that are still to be made and nobody else's, until the lease is over."""
        queue, leases, now = self.stores.logout_queue, self.stores.logout_leases, self.now()
        answers = await self.stores.kv.write(
            *[leases.put_new(True, LOGOUT, one, ttl=self.lease) for one in due],
            *[queue.defer(one, due=now + self.lease) for one in due],
        )
        return await self._found([one for one, won in zip(due, answers, strict=False) if won])

    async def set_back(self, due: Iterable[LogoutDelivery], *, seconds: int) -> None:
        """They are due again after some seconds."""
        later = self.now() + seconds
        await self.stores.kv.write(
            *[self.stores.logout_queue.defer(one.id, due=later) for one in due]
        )

    async def done(self, delivery: LogoutDelivery) -> None:
        """It has arrived, or will not."""
        await self._forget(delivery.id)

    async def postpone(self, delivery: LogoutDelivery, *, seconds: int) -> None:
        """It has failed once more, and is due again after some seconds."""
        failed = replace(delivery, failures=delivery.failures + 1)
        await self._give_back(failed, due=self.now() + seconds)

    async def give_back(self, delivery: LogoutDelivery) -> None:
        """It was taken and not tried."""
        await self._give_back(delivery, due=self.now())

    async def _give_back(self, delivery: LogoutDelivery, *, due: int) -> None:
        await self.stores.kv.write(
            self.stores.logout_deliveries.rewrite(delivery, LOGOUT, delivery.id),
            self.stores.logout_queue.add(delivery.id, due=due),
            self.stores.logout_leases.drop(LOGOUT, delivery.id),
        )

    async def _found(self, ids: Sequence[str]) -> tuple[LogoutDelivery, ...]:
        """The deliveries of these ids; one that is over is forgotten."""
        found = await self.stores.kv.read(*[self._read(one) for one in ids])
        for one, delivery in zip(ids, found, strict=True):
            if delivery is None:
                await self._forget(one)
        return tuple(delivery for delivery in found if delivery is not None)

    async def _forget(self, delivery_id: str) -> None:
        await self.stores.kv.write(
            self.stores.logout_deliveries.drop(LOGOUT, delivery_id),
            self.stores.logout_queue.remove(delivery_id),
            self.stores.logout_leases.drop(LOGOUT, delivery_id),
        )

    def _read(self, delivery_id: str) -> Read[LogoutDelivery]:
        return self.stores.logout_deliveries.read(LOGOUT, delivery_id)
