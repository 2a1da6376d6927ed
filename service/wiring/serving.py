"""Builds the parts that only a serving process needs: pages, the aiohttp application and background work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Never
from urllib.parse import urlsplit

from aiohttp import web

from service.authorize.answer import Answering
from service.authorize.checks import find_accepted_values
from service.authorize.device import KEPT as KEPT_OF_DEVICES
from service.authorize.device import DeviceRequests
from service.authorize.flow import AuthorizeFlow
from service.authorize.interaction import Step
from service.authorize.user_codes import DeviceUserCodes
from service.authorize.visitors import Visitors
from service.clients.registered_list import RegisteredList
from service.config.schema.server import Server, Session
from service.identity.sign_in import FreshLogins, PartialSignIns
from service.keys.key_source import follow_keys
from service.keys.keyring import KeyRing
from service.model.session import LogoutDelivery
from service.model.webhook import WebhookDelivery
from service.observe.event_log import writes_frequent
from service.observe.metrics import Metrics
from service.observe.readings import Readings
from service.outbox.delivering import Deliveries
from service.outbox.queue import Outbox
from service.protocol.paths import TOKEN
from service.protocol.uris import is_loopback
from service.web.client_requests import ClientRequests
from service.web.cors import Cors
from service.web.endpoint import Direct, DirectRoutes, Endpoint
from service.web.gate import GATE, Gate, SecurityHeaders, name_endpoint
from service.web.key_proofs import KeyProofs, TokenGuard
from service.web.pages.cookies import Cookies
from service.web.pages.error_page import ErrorPages
from service.web.pages.pages import Pages
from service.web.proxy import ClientAddress, Mount
from service.web.remembered_answers import RememberedAnswers
from service.web.sent_credentials import CredentialReader
from service.web.server.connections import CONNECTIONS, FILES_RESERVED, Connections
from service.web.visits import Visits
from service.wiring.features import Features
from service.wiring.shared import Shared

SETTLING = 1
"""Seconds after which other workers can show what this one has counted, even if it serves no request."""


class Edge:
    """The parts that know HTTP and HTML: they read requests, and render pages."""

    gate: Gate
    """That of the application, which is built last."""

    def __init__(self, features: Features, steps: Sequence[Step]) -> None:
        shared, configuration = features.shared, features.shared.configuration
        server = configuration.server
        cookies = build_cookies(shared.issuer, configuration.session)
        self.pages = Pages(
            issuer=shared.issuer, ui=configuration.ui, cookies=cookies, registry=shared.registry
        )
        self.errors = ErrorPages(
            pages=self.pages,
            issuer=shared.issuer,
            registry=shared.registry,
            emit=shared.emit,
            find_accepted=partial(find_accepted_values, clients=features.clients)
            if configuration.is_development
            else None,
        )
        self.client_address = build_client_address(server)
        self.credentials = CredentialReader(
            client_address=self.client_address, certificate_header=server.client_certificate_header
        )
        self.proofs = KeyProofs(
            dpop=features.dpop, room=shared.room, client_address=self.client_address
        )
        self.guard = TokenGuard(
            active_tokens=features.active_tokens, credentials=self.credentials, proofs=self.proofs
        )
        self.visits = Visits(
            flow=build_flow(features, steps),
            cookies=cookies,
            client_address=self.client_address,
            pages=self.pages,
            errors=self.errors,
        )

    def set_up(self, app: web.Application) -> None:
        """Let the app render templates, and show a page for unknown paths; CannotServe if a template does not compile."""
        self.gate = app[GATE]
        self.pages.set_up(app)
        app.middlewares.append(self.errors.show_unknown_path)


def build_flow(features: Features, steps: Sequence[Step]) -> AuthorizeFlow:
    """Build what leads users from step to step."""
    shared, configuration = features.shared, features.shared.configuration
    visitors = Visitors(
        registry=shared.registry,
        steps=tuple(steps),
        sessions=shared.sessions,
        partial_sign_ins=PartialSignIns(shared.stores),
        fresh_logins=FreshLogins(shared.stores),
        subjects=features.subjects,
        enrolled=shared.factors,
    )
    return AuthorizeFlow(
        arriving=features.arriving,
        visitors=visitors,
        parking=features.parked_requests,
        consents=shared.consents,
        devices=build_devices(features),
        answering=Answering(
            access_tokens=features.access_tokens, id_tokens=features.id_tokens, emit=shared.emit
        ),
        second_factors=features.second_factors,
        enrollable={method.name: method.amr for method in features.factor_changes.methods},
        links=configuration.ui.links,
        emit=shared.emit,
    )


def build_devices(features: Features) -> DeviceRequests:
    """Build what leads users to the requests of their devices, which are parked among those of browsers."""
    shared, limits = features.shared, features.shared.configuration.limits
    return DeviceRequests(
        user_codes=DeviceUserCodes(
            stores=shared.stores,
            prefix=shared.prefix,
            per_session=limits.device_codes_per_session,
            per_address=limits.device_codes_per_address,
            per_minute=limits.device_codes_per_minute,
        ),
        parking=features.build_parking("authorize", KEPT_OF_DEVICES),
        polling=features.polling,
        emit=shared.emit,
    )


def build_cookies(issuer: str, session: Session) -> Cookies:
    """Build what reads and sets cookies; on one machine several instances have one host, and differ by their ports."""
    url = urlsplit(issuer)
    return Cookies(
        secure=url.scheme == "https",
        session_name=session.cookie_name,
        same_site=session.cookie_same_site,
        port=url.port if is_loopback(url.hostname or "") else None,
    )


def build_client_address(server: Server) -> ClientAddress:
    """Build what finds the address that a request comes from."""
    return ClientAddress(
        trusted=server.trusted_proxies, header=server.forwarded_header, gateways=server.gateways
    )


def build_client_requests(counted_as: str, features: Features, edge: Edge) -> ClientRequests:
    """Build what an endpoint for clients authenticates them by; its requests are counted under this name."""
    shared = features.shared
    per_minute = shared.configuration.limits.token_requests_per_minute
    return ClientRequests(
        client_auth=features.client_authentication,
        credentials=edge.credentials,
        proofs=edge.proofs,
        rate_limit=shared.rate_limit(counted_as, per_minute),
        emit=shared.emit,
    )


def build_remembered_answers(shared: Shared, ring: KeyRing) -> RememberedAnswers | None:
    """Build what introspection may answer without asking Redis, which tells of changes; None where that is not certain."""
    if shared.kv.tracking is None or shared.configuration.users.source != "file":
        return None
    return RememberedAnswers(shared.kv.tracking, shared.registry, ring)


def build_readings(
    features: Features, logouts: Outbox[LogoutDelivery], webhooks: Outbox[WebhookDelivery]
) -> Readings:
    """Build what shows the state of other parts as metrics."""
    shared = features.shared
    return Readings(
        kv=shared.kv,
        memory=shared.store_memory,
        registry=shared.registry,
        users=shared.users,
        ring=features.ring,
        grants=features.grants,
        logouts=logouts,
        webhooks=webhooks,
    )


def build_application(
    features: Features,
    draining: asyncio.Event,
    endpoints: Iterable[Endpoint],
    *,
    files_reserved: int = FILES_RESERVED,
    url: str | None = None,
) -> web.Application:
    """Return an app with these endpoints, below the issuer and its other URLs, or below `url` alone."""
    shared, server = features.shared, features.shared.configuration.server
    spans, has_dynamic_clients = shared.spans, shared.has_dynamic_clients
    routes = [route for endpoint in endpoints for route in endpoint.routes()]
    direct = [route for route in routes if isinstance(route, Direct)]
    paths = (route.path for route in routes)
    app = web.Application(client_max_size=server.max_body_bytes, middlewares=[name_endpoint])
    app[CONNECTIONS] = Connections(
        shared.metrics.connections,
        files_reserved=files_reserved,
        is_proxy=build_client_address(server).is_proxy,
    )
    app[GATE] = Gate(
        direct=DirectRoutes(direct),
        mount=Mount(filter(None, (shared.issuer, server.mtls_base_url)), paths, shared.aliases)
        if url is None
        else Mount((url,), paths),
        cors=Cors(
            direct,
            registry=shared.registry,
            registered=features.origins if has_dynamic_clients else None,
            # keycloak-js sends its token requests with credentials.
            with_credentials=TOKEN if "keycloak" in shared.configuration.path_aliases else None,
        ),
        security_headers=SecurityHeaders(is_https=(url or shared.issuer).startswith("https:")),
        draining=draining,
        max_body_bytes=server.max_body_bytes,
        find_caller=build_client_address(server).find,
        store_timeout=shared.configuration.store.timeout,
        emit=shared.emit if spans is None else spans.note_answers(shared.emit),
        event_queue=shared.event_queue,
        span=None if spans is None else spans.request,
        emit_at_once=shared.emit_at_once if spans is None and not writes_frequent() else None,
    )
    app.add_routes(route.for_aiohttp() if isinstance(route, Direct) else route for route in routes)
    return app


def background_work(
    features: Features, *deliveries: Deliveries[Any]
) -> Callable[[web.Application], AsyncIterator[None]]:
    """Return what follows the keys, queues events and makes deliveries, and closes all connections at the end."""
    shared = features.shared
    metrics, spans, key_source = shared.metrics, shared.spans, features.key_source

    async def run(_: web.Application) -> AsyncIterator[None]:
        async with nullcontext() if spans is None else spans.export():
            await key_source.start()
            works: list[Coroutine[Any, Any, None]] = [
                follow_keys(key_source),
                *(each.run() for each in deliveries),
                shared.store_memory.follow(),
                _settle(metrics),
                *(() if shared.event_queue is None else (shared.event_queue.run(),)),
            ]
            if features.secret_uses is not None:
                works += (
                    features.secret_uses.follow(),
                    RegisteredList(shared.stores).complete(),
                )
            tasks = [asyncio.create_task(work) for work in works]
            yield
            for task in tasks:
                await _stop(task)
        metrics.settle()
        await shared.close()

    return run


async def _settle(metrics: Metrics) -> Never:
    while True:
        await asyncio.sleep(SETTLING)
        metrics.settle()


async def _stop(task: asyncio.Task[None]) -> None:
    """Cancel until the task is over: up to Python 3.11, `asyncio.wait_for` can swallow a cancellation."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=0.1)
