"""Builds what serves authentication that a client begins and the user confirms elsewhere (CIBA Core)."""

from __future__ import annotations

import asyncio

from service.ciba.messages import Messages, SafeNotifier, open_notifier
from service.ciba.pending import PER_MINUTE, CibaRequests
from service.ciba.request import CibaReader, Hints, UserCodes
from service.model.backchannel import BackchannelDelivery
from service.outbox.delivering import Deliveries
from service.parts.outbox import build_outbox
from service.parts.whole import Parts


class CibaParts:
    """The parts of authentication that a client begins and the user confirms elsewhere (CIBA Core)."""

    def __init__(self, parts: Parts) -> None:
        """Raise CannotServe if the operator's notifier cannot be made."""
        shared, settings = parts.shared, parts.shared.configuration.ciba
        self.messages = build_ciba_messages(parts)
        self.deliveries = build_ciba_deliveries(parts, self.messages)
        self.notifier = SafeNotifier(open_notifier(settings.notifier, self.messages), shared.emit)
        hints = Hints(
            id_tokens=parts.tokens.id_tokens,
            users=parts.sign_in.users,
            sessions=parts.records.sessions,
            keys=parts.keys.of_clients,
            clock_skew=shared.configuration.server.clock_skew,
        )
        self.requests = CibaRequests(
            polling=parts.tokens.polling,
            messages=self.messages,
            hints=hints,
            per_user=shared.rate_limit("ciba-user", PER_MINUTE),
            room=shared.room,
            interval=settings.interval,
        )
        local = parts.sign_in.local
        self.reader = CibaReader(
            reader=parts.flow.reader,
            hints=hints,
            user_codes=UserCodes(
                passwords=local.passwords, turns=local.turns, throttle=local.throttle
            ),
            settings=settings,
        )


def build_ciba_messages(parts: Parts) -> Messages:
    """Build what sends pings and notes about CIBA requests."""
    shared, stores = parts.shared, parts.shared.stores
    return Messages(
        issuer=shared.issuer,
        stores=stores,
        queue=build_outbox(shared, stores.ciba_queue, stores.ciba_deliveries, stores.ciba_leases),
        clients=parts.clients.directory,
        ring=parts.keys.ring,
        seal=shared.seal,
        http=shared.client_http("ciba"),
        webhook=shared.configuration.ciba.webhook,
        wake=asyncio.Event(),
        emit=shared.emit,
    )


def build_ciba_deliveries(parts: Parts, messages: Messages) -> Deliveries[BackchannelDelivery]:
    """Build the outbox of those."""
    spans, attempt = parts.shared.spans, messages.attempt
    return Deliveries(
        queue=messages.queue,
        attempt=spans.trace_deliveries("ciba_message", attempt) if spans else attempt,
        find_uri=messages.find_uri,
        clients=parts.clients.directory,
        wake=messages.wake,
    )
