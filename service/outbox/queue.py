"""Keeps messages in the store until they have arrived, whichever process stops at whichever moment."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

import msgspec
from msgspec.structs import replace

from service.store.keyvalue import KeyValue
from service.store.lanes import Lanes
from service.store.records import Queue
from service.store.stores import OutboxRecords
from service.store.verbs import Command, steps

LEASE_MARGIN = 5
"""Seconds by which a lease is longer than a request may take: for the token and the store."""

PAUSES = (5, 15, 45, 120, 240)
"""Seconds after each attempt but the last, give or take a quarter: six attempts in seven minutes."""

AGAIN = "an operator tries it again"
"""The cause of a message that is tried again before its first attempt."""

MAX_DEAD = 1000
"""Dead letters of one queue; with more, the oldest are forgotten."""


class Delivery(Protocol):
    """A message on its way to one place."""

    @property
    def id(self) -> str:
        """The same for the same message, so that one that is queued twice is delivered once."""
        ...

    @property
    def failures(self) -> int: ...
    @property
    def cause(self) -> str | None:
        """The reason of the last failure."""
        ...

    @property
    def traceparent(self) -> str | None:
        """The span in which it was queued (W3C Trace Context §3.2)."""
        ...


D = TypeVar("D", bound=Delivery)


class Outbox(msgspec.Struct, Generic[D], kw_only=True):
    """Takes due deliveries under a lease; one that its taker did not return is due again after it.

    So every message arrives at least once, whichever process stops at whichever moment. One that could not be delivered is
    kept for the operator as a dead letter.
    """

    kv: KeyValue
    kept: OutboxRecords[Queue | Lanes, D]
    lease: int
    """Seconds; longer than an attempt can take."""
    waiting: int = 0
    """The number of deliveries when `find_due` was last called."""

    async def find_due(self, at_most: int) -> tuple[D, ...]:
        """Return deliveries whose time has come, the earliest first; they stay in the queue."""
        queue = self.kept.queue
        due, self.waiting = await self.kv.write(queue.due(at_most=at_most), queue.count())
        return await self._read([delivery_id.decode() for delivery_id in due])

    async def take(self, due: Collection[str]) -> tuple[D, ...]:
        """Lease those of these ids that are still due: another process may have had one since they were found."""
        answers = await self.kv.write(*[self._take(one) for one in due])
        return await self._read([one for one, won in zip(due, answers, strict=True) if won])

    def _take(self, delivery_id: str) -> Command:
        lease = self.kept.leases.put_new(
            True, self.kept.queue.selector, delivery_id, ttl=self.lease
        )
        return self.kept.queue.take(delivery_id, seconds=self.lease, lease=lease)

    async def defer(self, due: Sequence[D], *, seconds: int) -> None:
        """Make deliveries that nobody has taken due again after some seconds."""
        queue = self.kept.queue
        for some in steps(due):
            await self.kv.write(*[queue.defer(one.id, seconds=seconds) for one in some])

    async def give_back(self, delivery: D, *, seconds: int = 0) -> None:
        """Return a delivery that was taken."""
        selector = self.kept.queue.selector
        await self.kv.write(
            self.kept.deliveries.rewrite(delivery, selector, delivery.id),
            self.kept.queue.add(delivery.id, seconds=seconds),
            self.kept.leases.drop(selector, delivery.id),
        )

    async def retry_later(self, failed: D) -> bool:
        """Return a delivery after its attempt has failed, or bury it after the last one; return whether there will be another.

        `failed` has counted the attempt.
        """
        if failed.failures > len(PAUSES):
            await self.bury(failed)
            return False
        await self.give_back(failed, seconds=spread(PAUSES[failed.failures - 1]))
        return True

    async def bury(self, failed: D) -> None:
        """Make a dead letter of a delivery, which is kept as long as its queue says."""
        selector, dead = self.kept.queue.selector, self.kept.dead
        *_, count = await self.kv.write(
            self.kept.deliveries.put(failed, selector, failed.id, ttl=dead.ttl),
            dead.add(failed.id),
            self.kept.queue.remove(failed.id),
            self.kept.leases.drop(selector, failed.id),
            dead.count(),
        )
        if count > MAX_DEAD:
            (oldest,) = await self.kv.read_members(dead.due(at_most=count - MAX_DEAD))
            await self.kv.write(
                *[self.kept.deliveries.drop(selector, one) for one in oldest],
                *[dead.remove(one) for one in oldest],
            )

    async def revive(self, delivery_id: str) -> bool:
        """Let a dead letter, or a delivery that waits for its next attempt, be due now; return whether there is one.

        It then has a cause, but no failure.
        """
        selector = self.kept.queue.selector
        (found,) = await self.kv.read(self.kept.deliveries.read(selector, delivery_id))
        if found is None:
            return False
        revived = replace(cast("Any", found), failures=0, cause=found.cause or AGAIN)
        put = self.kept.deliveries.rewrite(revived, selector, delivery_id)
        await self.kv.write(
            *self.kept.queue.revive(delivery_id, put), self.kept.dead.remove(delivery_id)
        )
        return True

    async def remove(self, delivery_id: str) -> None:
        """Forget a delivery that has arrived, or never will."""
        selector = self.kept.queue.selector
        await self.kv.write(
            self.kept.deliveries.drop(selector, delivery_id),
            self.kept.queue.remove(delivery_id),
            self.kept.leases.drop(selector, delivery_id),
        )

    async def look(self, *, dead: bool, start: int, count: int) -> list[tuple[D | None, int]]:
        """Return deliveries with the times at which they are due, or dead letters with those of their deaths; None for one that has expired."""
        selector, queue = self.kept.queue.selector, self.kept.dead if dead else self.kept.queue
        (listed,) = await self.kv.write(queue.first(start=start, count=count))
        places = _pairs(listed)
        found = await self.kv.read(
            *[self.kept.deliveries.read(selector, member.decode()) for member, _ in places]
        )
        return [
            (delivery, int(float(time))) for delivery, (_, time) in zip(found, places, strict=True)
        ]

    async def _read(self, ids: Sequence[str]) -> tuple[D, ...]:
        """Return the deliveries of these ids, and forget the ids of those that have expired."""
        deliveries, selector = self.kept.deliveries, self.kept.queue.selector
        found: list[D | None] = []
        for some in steps(ids):
            found += await self.kv.read(*[deliveries.read(selector, one) for one in some])
        for one, delivery in zip(ids, found, strict=True):
            if delivery is None:
                await self.remove(one)
        return tuple(delivery for delivery in found if delivery is not None)


def spread(pause: int) -> int:
    """Return a quarter less to a quarter more, so that attempts that failed together spread out."""
    return pause - pause // 4 + secrets.randbelow(pause // 4 * 2 + 1)


def _pairs(listed: Sequence[Any]) -> Sequence[tuple[bytes, Any]]:
    """Return members with their scores, which are pairs in RESP3, and follow one another in RESP2."""
    if listed and isinstance(listed[0], list):
        return listed
    return list(zip(listed[::2], listed[1::2], strict=True))
