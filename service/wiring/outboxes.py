"""Builds the outboxes: the queues of messages to others, what makes their deliveries, and what shows them to operators."""

from __future__ import annotations

import asyncio
from math import ceil

from service.logout.back_channel import BackChannel
from service.model.backchannel import BackchannelDelivery
from service.model.session import LogoutDelivery
from service.model.webhook import WebhookDelivery
from service.outbox.delivering import Deliveries, places_of_clients
from service.outbox.looking import Description, LookedAt, Outboxes, count_members
from service.outbox.queue import LEASE_MARGIN, D, Outbox
from service.store.lanes import Lanes
from service.store.records import Queue
from service.store.stores import OutboxRecords
from service.webhooks.sending import WebhookSender, find_by_id
from service.wiring.features import Features
from service.wiring.shared import Shared


def build_outbox(shared: Shared, kept: OutboxRecords[Queue | Lanes, D]) -> Outbox[D]:
    """Build the outbox of the messages of one kind; each attempt may take as long as any request to others."""
    lease = ceil(shared.configuration.outgoing.timeout) + LEASE_MARGIN
    return Outbox(kv=shared.kv, kept=kept, lease=lease)


def build_logout_deliveries(features: Features) -> Deliveries[LogoutDelivery]:
    """Build back-channel logout."""
    shared = features.shared
    queue = build_outbox(shared, shared.stores.logout_outbox)
    http, id_tokens = shared.client_http("logout"), features.id_tokens
    back_channel = BackChannel(queue=queue, id_tokens=id_tokens, http=http, emit=shared.emit)
    return Deliveries(
        queue=queue,
        attempt=shared.trace_deliveries("backchannel_logout", back_channel.attempt),
        open_places=places_of_clients(
            features.clients, lambda _, client: client.backchannel_logout_uri if client else None
        ),
        wake=shared.sessions.ended,
    )


def build_webhook_deliveries(shared: Shared) -> Deliveries[WebhookDelivery]:
    """Build what sends events to webhooks."""
    queued, queue = shared.event_queue, build_outbox(shared, shared.stores.webhook_outbox)
    sender = WebhookSender(
        queue=queue,
        webhooks=find_by_id(shared.configuration.events.webhooks),
        http=shared.webhook_http(),
        emit=shared.emit,
    )
    return Deliveries(
        queue=queue,
        attempt=shared.trace_deliveries("webhook", sender.attempt),
        open_places=lambda: sender.find_place,
        wake=asyncio.Event() if queued is None else queued.queued,
    )


def open_outboxes(shared: Shared) -> Outboxes:
    """Open what shows all outboxes to operators, in any process."""
    stores = shared.stores
    logouts = build_outbox(shared, stores.logout_outbox)
    ciba = build_outbox(shared, stores.ciba_outbox)
    places = [webhook.id for webhook in shared.configuration.events.webhooks]

    async def count_events() -> int:
        queue = stores.webhook_outbox.queue
        return sum(await shared.kv.write(*map(queue.count_waiting, places)))

    return Outboxes(
        {
            "logout": LookedAt(
                outbox=logouts, describe=_describe_logout, count_waiting=count_members(logouts)
            ),
            "ciba": LookedAt(
                outbox=ciba, describe=_describe_ciba, count_waiting=count_members(ciba)
            ),
            "webhooks": LookedAt(
                outbox=build_outbox(shared, stores.webhook_outbox),
                describe=_describe_event,
                count_waiting=count_events,
            ),
        }
    )


def _describe_logout(delivery: LogoutDelivery) -> Description:
    return Description(kind="backchannel_logout", to=delivery.client_id, subject=delivery.subject)


def _describe_ciba(delivery: BackchannelDelivery) -> Description:
    return Description(kind=delivery.kind, to=delivery.client_id, subject=None)


def _describe_event(delivery: WebhookDelivery) -> Description:
    return Description(kind=delivery.kind, to=delivery.host, subject=delivery.subject)
