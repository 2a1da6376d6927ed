"""Builds CIBA: its endpoints, and what sends its messages (CIBA Core)."""

from __future__ import annotations

import asyncio

import msgspec

from service.ciba.endpoint import BackchannelAuthenticationEndpoint
from service.ciba.messages import Messages, SafeNotifier, open_notifier
from service.ciba.page import AccountRequestsEndpoint
from service.ciba.pending import PER_MINUTE, CibaRequests
from service.ciba.request import CibaReader, Hints, UserCodes
from service.model.backchannel import BackchannelDelivery
from service.outbox.delivering import Deliveries, places_of_clients
from service.web.endpoint import Endpoint
from service.wiring.features import Features
from service.wiring.outboxes import build_outbox
from service.wiring.serving import Edge, build_client_requests


class Ciba(msgspec.Struct, frozen=True, kw_only=True):
    """Authentication that a client begins and the user confirms elsewhere."""

    endpoints: tuple[Endpoint, ...]
    deliveries: Deliveries[BackchannelDelivery]


def build_ciba(features: Features, edge: Edge) -> Ciba:
    """Build CIBA; raise CannotServe if the operator's notifier cannot be made."""
    shared, settings = features.shared, features.shared.configuration.ciba
    messages, hints = build_messages(features), _build_hints(features)
    requests = CibaRequests(
        polling=features.polling,
        messages=messages,
        hints=hints,
        per_user=shared.rate_limit("ciba-user", PER_MINUTE),
        room=shared.room,
        interval=settings.interval,
    )
    endpoint = BackchannelAuthenticationEndpoint(
        from_clients=build_client_requests("ciba", features, edge),
        reader=CibaReader(
            reader=features.arriving.reader,
            hints=hints,
            user_codes=_build_user_codes(features),
            settings=settings,
        ),
        requests=requests,
        notifier=SafeNotifier(open_notifier(settings.notifier, messages), shared.emit),
        issuer=shared.issuer,
        registry=shared.registry,
        registrable=features.registrable,
        emit=shared.emit,
    )
    page = AccountRequestsEndpoint(visits=edge.visits, requests=requests)
    return Ciba(endpoints=(endpoint, page), deliveries=_build_deliveries(features, messages))


def build_messages(features: Features) -> Messages:
    """Build what makes and sends pings and notes."""
    shared = features.shared
    return Messages(
        issuer=shared.issuer,
        stores=shared.stores,
        queue=build_outbox(shared, shared.stores.ciba_outbox),
        clients=features.clients,
        ring=features.ring,
        seal=shared.seal,
        http=shared.client_http("ciba"),
        webhook=shared.configuration.ciba.webhook,
        wake=asyncio.Event(),
        emit=shared.emit,
    )


def _build_hints(features: Features) -> Hints:
    shared = features.shared
    return Hints(
        id_tokens=features.id_tokens,
        users=shared.users,
        sessions=shared.sessions,
        keys=features.client_keys,
        clock_skew=shared.configuration.server.clock_skew,
    )


def _build_user_codes(features: Features) -> UserCodes:
    local = features.local_sign_in
    return UserCodes(
        passwords=local.passwords,
        turns=local.turns,
        throttle=local.throttle,
        guesses=features.shared.guesses,
    )


def _build_deliveries(features: Features, messages: Messages) -> Deliveries[BackchannelDelivery]:
    return Deliveries(
        queue=messages.queue,
        attempt=features.shared.trace_deliveries("ciba_message", messages.attempt),
        open_places=places_of_clients(features.clients, messages.find_uri),
        wake=messages.wake,
    )
