"""Keeps messages in the store until they have arrived, whichever process stops at whichever moment."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec

from service.store.keyvalue import KeyValue
from service.store.records import Queue, Records
from service.store.verbs import Command, steps

LEASE_MARGIN = 5
"""Seconds by which a lease is longer than a request may take: for the token and the store."""

PAUSES = (5, 15, 45, 120, 240)
"""Seconds after each attempt but the last, give or take a quarter: six attempts in seven minutes."""


class Delivery(Protocol):
    """A message on its way to one place."""

    @property
    def id(self) -> str:
        """The same for the same message, so that one that is queued twice is delivered once."""
        ...

    @property
    def client_id(self) -> str: ...
    @property
    def failures(self) -> int: ...
    @property
    def traceparent(self) -> str | None:
        """The span in which it was queued (W3C Trace Context §3.2)."""
        ...


D = TypeVar("D", bound=Delivery)


class Outbox(msgspec.Struct, Generic[D], kw_only=True):
    """Takes due deliveries under a lease; one that its taker did not return is due again after it.

    So every message arrives at least once, whichever process stops at whichever moment.
    """

    kv: KeyValue
    queue: Queue
    """Its selector is that of all keys, so that they are in one slot of a Redis Cluster."""
    deliveries: Records[D]
    leases: Records[bool]
    lease: int
    """Seconds; longer than an attempt can take."""
    waiting: int = 0
    """The number of deliveries when `find_due` was last called."""

    async def find_due(self, at_most: int) -> tuple[D, ...]:
        """Return deliveries whose time has come, the earliest first; they stay in the queue."""
        queue = self.queue
        due, self.waiting = await self.kv.write(queue.due(at_most=at_most), queue.count())
        return await self._read([delivery_id.decode() for delivery_id in due])

    async def take(self, due: Collection[str]) -> tuple[D, ...]:
        """Lease those of these ids that are still due: another process may have had one since they were found."""
        answers = await self.kv.write(*[self._take(one) for one in due])
        return await self._read([one for one, won in zip(due, answers, strict=True) if won])

    def _take(self, delivery_id: str) -> Command:
        lease = self.leases.put_new(True, self.queue.selector, delivery_id, ttl=self.lease)
        return self.queue.take(delivery_id, seconds=self.lease, lease=lease)

    async def defer(self, due: Sequence[D], *, seconds: int) -> None:
        """Make deliveries that nobody has taken due again after some seconds."""
        queue = self.queue
        for some in steps(due):
            await self.kv.write(*[queue.defer(one.id, seconds=seconds) for one in some])

    async def give_back(self, delivery: D, *, seconds: int = 0) -> None:
        """Return a delivery that was taken."""
        selector = self.queue.selector
        await self.kv.write(
            self.deliveries.rewrite(delivery, selector, delivery.id),
            self.queue.add(delivery.id, seconds=seconds),
            self.leases.drop(selector, delivery.id),
        )

    async def retry_later(self, failed: D) -> bool:
        """Return a delivery after its attempt has failed, or remove it after the last one; return whether there will be another.

        `failed` has counted the attempt.
        """
        if failed.failures > len(PAUSES):
            await self.remove(failed.id)
            return False
        pause = PAUSES[failed.failures - 1]
        # A quarter less to a quarter more, so that attempts that failed together spread out.
        seconds = pause - pause // 4 + secrets.randbelow(pause // 4 * 2 + 1)
        await self.give_back(failed, seconds=seconds)
        return True

    async def remove(self, delivery_id: str) -> None:
        """Forget a delivery that has arrived, or never will."""
        selector = self.queue.selector
        await self.kv.write(
            self.deliveries.drop(selector, delivery_id),
            self.queue.remove(delivery_id),
            self.leases.drop(selector, delivery_id),
        )

    async def _read(self, ids: Sequence[str]) -> tuple[D, ...]:
        """Return the deliveries of these ids, and forget the ids of those that have expired."""
        deliveries, selector = self.deliveries, self.queue.selector
        found: list[D | None] = []
        for some in steps(ids):
            found += await self.kv.read(*[deliveries.read(selector, one) for one in some])
        for one, delivery in zip(ids, found, strict=True):
            if delivery is None:
                await self.remove(one)
        return tuple(delivery for delivery in found if delivery is not None)
