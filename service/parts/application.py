"""Builds aiohttp applications behind the gate that all requests go through."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from aiohttp import web

from service.http.cors import Cors
from service.http.endpoint import Direct, Endpoint
from service.http.gate import GATE, Gate, name_endpoint
from service.http.security_headers import SecurityHeaders
from service.parts import Parts
from service.server.connections import CONNECTIONS, FILES_RESERVED, Connections


def build_application(
    parts: Parts,
    draining: asyncio.Event,
    endpoints: Iterable[Endpoint],
    *,
    files_reserved: int = FILES_RESERVED,
) -> web.Application:
    """Return an app with these endpoints."""
    shared, spans, server = parts.shared, parts.shared.spans, parts.shared.configuration.server
    routes = [route for endpoint in endpoints for route in endpoint.routes()]
    direct = [route for route in routes if isinstance(route, Direct)]
    cors = Cors(
        direct,
        registry=shared.registry,
        registered=parts.clients.origins if shared.registration_is_on else None,
    )
    gate = Gate(
        direct={(each.method, each.path): each.handler for each in direct},
        cors=cors,
        security_headers=SecurityHeaders(is_https=shared.issuer.startswith("https:")),
        draining=draining,
        max_body_bytes=server.max_body_bytes,
        store_timeout=shared.configuration.store.timeout,
        emit=shared.emit if spans is None else spans.note_answers(shared.emit),
        span=None if spans is None else spans.request,
    )
    app = web.Application(client_max_size=server.max_body_bytes, middlewares=[name_endpoint])
    app[CONNECTIONS] = Connections(shared.metrics.connections, files_reserved=files_reserved)
    app[GATE] = gate
    app.add_routes(route.for_aiohttp() if isinstance(route, Direct) else route for route in routes)
    return app
