"""Shows the messages that wait to be delivered to others, and those that could not be."""

from __future__ import annotations

from datetime import datetime

import msgspec

from service.admin.views.page import Paging, bad_cursor, cursor_after
from service.clock import time_of
from service.outbox.looking import STATES, Outboxes, OutboxMessage, QueueCounts, State
from service.protocol.errors import InvalidRequest


class MessageView(msgspec.Struct, frozen=True, kw_only=True):
    """A message; its content is not shown."""

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


class OutboxView(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of all messages, and a page of those in one state."""

    queues: dict[str, QueueCounts]
    items: tuple[MessageView, ...]
    next: str | None


class OutboxViews(msgspec.Struct, frozen=True):
    outboxes: Outboxes

    async def read(self, state: str, paging: Paging) -> OutboxView:
        """Return a page of the messages in this state; raise InvalidRequest for another one."""
        if state not in STATES:
            raise InvalidRequest(f"state is not one of {', '.join(STATES)}")
        try:
            page = await self.outboxes.read(state=state, cursor=paging.after, limit=paging.limit)
        except ValueError as error:
            raise bad_cursor() from error
        return OutboxView(
            queues=await self.outboxes.counts(),
            items=tuple(map(_show, page.messages)),
            next=page.cursor and cursor_after(page.cursor),
        )


def _show(message: OutboxMessage) -> MessageView:
    return MessageView(
        id=message.id,
        queue=message.queue,
        state=message.state,
        kind=message.kind,
        to=message.to,
        subject=message.subject,
        at=time_of(message.at),
        failures=message.failures,
        cause=message.cause,
    )
