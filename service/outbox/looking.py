"""Shows what waits in the outboxes and what could not be delivered, and lets an operator try again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from service.clock import time_of
from service.outbox.queue import Delivery, Outbox

State = Literal["waiting", "dead"]

STATES: tuple[State, ...] = ("waiting", "dead")


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a message that depend on its queue."""

    kind: str
    to: str
    """The client, or the host of a webhook."""
    subject: str | None


class OutboxMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message that waits, or a dead letter; its content is not shown."""

    id: str
    queue: str
    state: State
    kind: str
    to: str
    """The client_id, or the host of a webhook."""
    subject: str | None
    at: datetime
    """When it is due; of a dead letter, when its last attempt failed."""
    failures: int
    cause: str | None
    """The reason of the last failure."""


class QueueCounts(msgspec.Struct, frozen=True):
    waiting: int
    dead: int


class OutboxPage(msgspec.Struct, frozen=True):
    messages: tuple[OutboxMessage, ...]
    cursor: str | None
    """Leads to the next page; None on the last one."""


class LookedAt(msgspec.Struct, frozen=True, kw_only=True):
    """An outbox and what to say of its messages."""

    outbox: Outbox[Any]
    describe: Callable[[Any], Description]
    count_waiting: Callable[[], Awaitable[int]]

    async def count_dead(self) -> int:
        (count,) = await self.outbox.kv.write(self.outbox.kept.dead.count())
        return int(count)


def count_members(outbox: Outbox[Any]) -> Callable[[], Awaitable[int]]:
    """Return what counts the members of the queue of an outbox."""

    async def count() -> int:
        (members,) = await outbox.kv.write(outbox.kept.queue.count())
        return int(members)

    return count


class Outboxes(msgspec.Struct, frozen=True):
    """All outboxes, by the names that ids begin with.

    Of webhooks' messages that wait, the first of each subject is shown: those behind it are counted.
    """

    queues: Mapping[str, LookedAt]

    async def counts(self) -> dict[str, QueueCounts]:
        """Return how many messages there are in each queue."""
        return {
            name: QueueCounts(await queue.count_waiting(), await queue.count_dead())
            for name, queue in self.queues.items()
        }

    async def read(self, *, state: State, cursor: str | None, limit: int) -> OutboxPage:
        """Return messages of all queues, one queue after the other; ValueError for a cursor of another list."""
        names = tuple(self.queues)
        at, start = _read_cursor(cursor, names)
        messages: list[OutboxMessage] = []
        for name in names[at:]:
            room = limit - len(messages)
            queue = self.queues[name]
            listed = await queue.outbox.look(dead=state == "dead", start=start, count=room)
            messages += (
                _message(name, queue, state, one, time) for one, time in listed if one is not None
            )
            if len(listed) == room:
                return OutboxPage(tuple(messages), f"{name}:{start + len(listed)}")
            start = 0
        return OutboxPage(tuple(messages), None)

    async def retry(self, message_id: str) -> bool:
        """Let a message be due now; return whether there is one."""
        name, _, delivery_id = message_id.partition(".")
        queue = self.queues.get(name)
        return queue is not None and await queue.outbox.revive(delivery_id)


def _read_cursor(cursor: str | None, names: Sequence[str]) -> tuple[int, int]:
    """Return the position of a queue, and that in the queue."""
    if cursor is None:
        return 0, 0
    name, _, start = cursor.partition(":")
    if name not in names or not start.isascii() or not start.isdigit() or len(start) > 9:  # noqa: PLR2004 - more than any queue has
        raise ValueError("the cursor is none of this list")
    return names.index(name), int(start)


def _message(
    name: str, queue: LookedAt, state: State, delivery: Delivery, at: int
) -> OutboxMessage:
    described = queue.describe(delivery)
    return OutboxMessage(
        id=f"{name}.{delivery.id}",
        queue=name,
        state=state,
        kind=described.kind,
        to=described.to,
        subject=described.subject,
        at=time_of(at),
        failures=delivery.failures,
        cause=delivery.cause,
    )
