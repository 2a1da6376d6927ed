"""Builds the queues of what is sent to others until it has arrived, such as logout tokens."""

from __future__ import annotations

from math import ceil

from service.logout.back_channel import BackChannel
from service.model.session import LogoutDelivery
from service.outbox.delivering import Deliveries
from service.outbox.queue import LEASE_MARGIN, D, Outbox
from service.parts.shared import Shared
from service.parts.whole import Parts
from service.store.records import Queue, Records


def build_logout_deliveries(parts: Parts) -> Deliveries[LogoutDelivery]:
    """Build back-channel logout."""
    shared, stores = parts.shared, parts.shared.stores
    queue = build_outbox(
        shared, stores.logout_queue, stores.logout_deliveries, stores.logout_leases
    )
    attempt = BackChannel(
        queue=queue,
        id_tokens=parts.tokens.id_tokens,
        http=shared.client_http("logout"),
        emit=shared.emit,
    ).attempt
    spans = shared.spans
    return Deliveries(
        queue=queue,
        attempt=spans.trace_deliveries("backchannel_logout", attempt) if spans else attempt,
        find_uri=lambda _, client: client.backchannel_logout_uri if client else None,
        clients=parts.clients.directory,
        wake=parts.records.sessions.ended,
    )


def build_outbox(
    shared: Shared, queue: Queue, deliveries: Records[D], leases: Records[bool]
) -> Outbox[D]:
    """Build the queue of deliveries of one kind; each attempt may take as long as any request to others."""
    lease = ceil(shared.configuration.outgoing.timeout) + LEASE_MARGIN
    return Outbox(kv=shared.kv, queue=queue, deliveries=deliveries, leases=leases, lease=lease)
