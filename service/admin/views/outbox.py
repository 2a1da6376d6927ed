"""Shows the messages that wait to be delivered to others, and those that could not be."""

from __future__ import annotations

import msgspec

from service.admin.views.page import Paging, bad_cursor, cursor_after
from service.outbox.looking import STATES, Outboxes, OutboxMessage, QueueCounts
from service.protocol.errors import InvalidRequest


class OutboxView(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of all messages, and a page of those in one state."""

    queues: dict[str, QueueCounts]
    items: tuple[OutboxMessage, ...]
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
            items=page.messages,
            next=page.cursor and cursor_after(page.cursor),
        )
