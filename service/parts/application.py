"""Builds aiohttp applications behind the gate that all requests go through."""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web

from service.endpoints import discovery, jwks, revocation, token, userinfo
from service.http.cors import Cors
from service.http.draining import Draining
from service.http.endpoint import Direct, Endpoint
from service.http.gate import Gate, name_endpoint
from service.http.security_headers import SecurityHeaders
from service.http.traced_gate import GATE, TracedGate
from service.parts import Parts
from service.server.connections import CONNECTIONS, FILES_RESERVED, Connections


def build_application(
    parts: Parts,
    draining: Draining,
    endpoints: Iterable[Endpoint],
    *,
    files_reserved: int = FILES_RESERVED,
) -> web.Application:
    """Return an app with these endpoints."""
    shared, spans, server = parts.shared, parts.shared.spans, parts.shared.configuration.server
    routes = [route for endpoint in endpoints for route in endpoint.routes()]
    direct = [route for route in routes if isinstance(route, Direct)]
    cors = Cors(
        registry=shared.registry,
        open_paths={jwks.PATH, *discovery.paths(shared.issuer)},
        client_paths={token.PATH, userinfo.PATH, revocation.PATH},
        registered=parts.clients.origins if shared.registration_is_on else None,
    )
    gate = Gate(
        direct={(each.method, each.path): each.handler for each in direct},
        cors=cors,
        security_headers=SecurityHeaders(secure=shared.issuer.startswith("https:")),
        draining=draining,
        max_body_bytes=server.max_body_bytes,
        store_timeout=shared.configuration.store.timeout,
        emit=shared.emit if spans is None else spans.note_answers(shared.emit),
    )
    app = web.Application(client_max_size=server.max_body_bytes, middlewares=[name_endpoint])
    app[CONNECTIONS] = Connections(shared.metrics.connections, files_reserved=files_reserved)
    app[GATE] = gate if spans is None else TracedGate(gate, spans.request)
    app.add_routes(route.for_aiohttp() if isinstance(route, Direct) else route for route in routes)
    return app
