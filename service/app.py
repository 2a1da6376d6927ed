"""The composition root, to be read first: settings in, endpoints in a list, an aiohttp app out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import web

from service.account_endpoints import account_endpoints
from service.background import running
from service.config.configuration import Configuration
from service.config.reload import ReloadableRegistry
from service.edge import Edge
from service.endpoints import discovery, jwks, revocation, token, userinfo
from service.endpoints.authorize import AuthorizeEndpoint
from service.endpoints.consent import ConsentEndpoint
from service.endpoints.discovery import DiscoveryEndpoint
from service.endpoints.health import HealthEndpoint
from service.endpoints.identity_provider import IdentityProviderEndpoint
from service.endpoints.introspection import IntrospectionEndpoint
from service.endpoints.jwks import JwksEndpoint
from service.endpoints.login import LoginEndpoint
from service.endpoints.metrics import MetricsEndpoint
from service.endpoints.register import OPEN_PER_MINUTE, RegisterEndpoint
from service.endpoints.revocation import RevocationEndpoint
from service.endpoints.select_account import SelectAccountEndpoint
from service.endpoints.token import TokenEndpoint
from service.endpoints.userinfo import UserinfoEndpoint
from service.http.cors import Cors
from service.http.draining import Draining
from service.http.endpoint import Endpoint, MachineEndpoint, routed
from service.http.gate import Gate, name_endpoint
from service.http.security_headers import SecurityHeaders
from service.http.traced_gate import GATE, TracedGate
from service.model.events import Emit
from service.parts import Parts
from service.server.connections import CONNECTIONS, FILES_RESERVED, Connections
from service.store.keyvalue import KeyValue

if TYPE_CHECKING:
    from service.observe.spans import Spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What runs: the app, and the parts that the process around it has to hold in hand."""

    app: web.Application
    management: web.Application | None
    """Health and metrics, where they have a port of their own."""
    parts: Parts
    edge: Edge

    @property
    def registry(self) -> ReloadableRegistry:
        """What SIGHUP reloads."""
        return self.parts.registry

    @property
    def draining(self) -> Draining:
        """What SIGTERM begins."""
        return self.edge.draining

    @property
    def kv(self) -> KeyValue:
        """The store."""
        return self.parts.kv


def create_app(
    configuration: Configuration,
    *listeners: Emit,
    environ: Mapping[str, str] = os.environ,
    spans: Spans | None = None,
) -> Service:
    """Build everything; nothing reaches for the store before the app starts."""
    parts = Parts(configuration, environ, *listeners, spans=spans)
    edge = Edge(parts)
    operations = operations_endpoints(parts, edge)
    machines = (*client_endpoints(parts, edge), *resource_endpoints(parts))
    others = (
        *registration_endpoints(parts, edge),
        *browser_endpoints(parts, edge),
        *account_endpoints(parts, edge),
    )
    described = DiscoveryEndpoint(
        issuer=parts.issuer,
        endpoints=(*machines, *others),
        keys=parts.keys,
        algorithms=parts.client_algorithms,
        registry=parts.registry,
        locales=configuration.ui.locales,
        subject_types=parts.subject_identifiers.types,
        registrable=parts.registrable,
    )
    app = _application(parts, edge, others, machines=(*machines, described))
    app.middlewares.append(edge.errors.show_unknown_path)
    app.add_routes(edge.pages.routes())
    edge.pages.setup(app)
    app.cleanup_ctx.append(running(parts))
    if configuration.server.management_port is None:
        _add(app, operations)
        return Service(app=app, management=None, parts=parts, edge=edge)
    management = _application(parts, edge, operations, files_reserved=0)
    return Service(app=app, management=management, parts=parts, edge=edge)


def client_endpoints(parts: Parts, edge: Edge) -> tuple[MachineEndpoint, ...]:
    """For clients. To add one: a file in `endpoints/`, and an entry here."""
    return (
        TokenEndpoint(
            client_auth=parts.client_auth,
            grants=parts.grants,
            subjects=parts.subjects,
            issuer=parts.token_issuer,
            registry=parts.registry,
            rate_limit=parts.token_rate_limit,
            client_address=edge.client_address,
            emit=parts.emit,
            now=parts.now,
            registrable=parts.registrable,
        ),
        RevocationEndpoint(
            client_auth=parts.client_auth,
            active_tokens=parts.active_tokens,
            revocation=parts.revocation,
            emit=parts.emit,
            now=parts.now,
        ),
        UserinfoEndpoint(
            active_tokens=parts.active_tokens,
            subjects=parts.subjects,
            identifiers=parts.subject_identifiers,
            registry=parts.registry,
            clients=parts.clients,
            keys=parts.client_keys,
            algorithms=parts.client_algorithms,
        ),
    )


def resource_endpoints(parts: Parts) -> tuple[MachineEndpoint, ...]:
    """For API resources, which ask about tokens or verify them."""
    return (
        IntrospectionEndpoint(
            callers=parts.callers,
            active_tokens=parts.active_tokens,
            identifiers=parts.subject_identifiers,
            registry=parts.registry,
            keys=parts.keys,
            emit=parts.emit,
            now=parts.now,
        ),
        JwksEndpoint(keys=parts.keys),
    )


def registration_endpoints(parts: Parts, edge: Edge) -> tuple[Endpoint, ...]:
    """For clients that register themselves, where they may."""
    if not parts.registration_is_on:
        return ()
    return (
        RegisterEndpoint(
            issuer=parts.issuer,
            registration=parts.client_registration,
            initial_access_tokens=parts.configuration.registration.initial_access_token_sha256,
            rate_limit=parts.registration_rate_limit(OPEN_PER_MINUTE),
            client_address=edge.client_address,
            emit=parts.emit,
        ),
    )


def browser_endpoints(parts: Parts, edge: Edge) -> tuple[Endpoint, ...]:
    """For people: where clients send them, and a page for each step of `authorize/steps`."""
    return (
        AuthorizeEndpoint(
            sign_in=edge.sign_in_pages,
            errors=edge.errors,
            client_address=edge.client_address,
            registrable=parts.registrable,
        ),
        LoginEndpoint(
            sign_in=edge.sign_in_pages,
            login=edge.login_page,
            local=parts.local_sign_in,
            client_address=edge.client_address,
            errors=edge.errors,
            now=parts.now,
        ),
        IdentityProviderEndpoint(
            sign_in=edge.sign_in_pages,
            login=edge.login_page,
            providers=parts.provider_sign_in,
            client_address=edge.client_address,
            errors=edge.errors,
        ),
        SelectAccountEndpoint(sign_in=edge.sign_in_pages, errors=edge.errors),
        ConsentEndpoint(
            sign_in=edge.sign_in_pages,
            registry=parts.registry,
            errors=edge.errors,
            emit=parts.emit,
        ),
    )


def operations_endpoints(parts: Parts, edge: Edge) -> tuple[Endpoint, ...]:
    """For the people and machines that run the service."""
    return (
        HealthEndpoint(
            ring=parts.keys,
            store=parts.kv,
            memory=parts.store_memory,
            registry=parts.registry,
            draining=edge.draining,
            unready_after=parts.configuration.store.unready_after,
        ),
        MetricsEndpoint(parts.metrics),
    )


def _application(
    parts: Parts,
    edge: Edge,
    endpoints: Iterable[Endpoint],
    *,
    machines: Iterable[MachineEndpoint] = (),
    files_reserved: int = FILES_RESERVED,
) -> web.Application:
    """An app that answers these endpoints, with the gate before it that all requests go through."""
    direct = [each for machine in machines for each in machine.direct()]
    cors = Cors(
        registry=parts.registry,
        open_paths={jwks.PATH, *discovery.paths(parts.issuer)},
        client_paths={token.PATH, userinfo.PATH, revocation.PATH},
        registered=parts.registered_origins if parts.registration_is_on else None,
    )
    app = web.Application(
        client_max_size=parts.configuration.server.max_body_bytes, middlewares=[name_endpoint]
    )
    spans = parts.spans
    gate = Gate(
        direct={(each.method, each.path): each.handler for each in direct},
        cors=cors,
        security_headers=SecurityHeaders(secure=parts.issuer.startswith("https:")),
        draining=edge.draining,
        max_body_bytes=parts.configuration.server.max_body_bytes,
        store_timeout=parts.configuration.store.timeout,
        emit=parts.emit if spans is None else spans.answered(parts.emit),
    )
    app[CONNECTIONS] = Connections(parts.metrics.connections, files_reserved=files_reserved)
    app[GATE] = gate if spans is None else TracedGate(gate, spans.request)
    app.add_routes(map(routed, direct))
    _add(app, endpoints)
    return app


def _add(app: web.Application, endpoints: Iterable[Endpoint]) -> None:
    for endpoint in endpoints:
        app.add_routes(endpoint.routes())
