"""Builds what knows HTTP: the parts for requests and pages, and aiohttp applications behind the gate."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from urllib.parse import urlsplit

from aiohttp import web

from service.config.schema.server import Server, Session
from service.http.cors import Cors
from service.http.credentials import CredentialReader
from service.http.endpoint import Direct, DirectRoutes, Endpoint
from service.http.gate import GATE, Gate, SecurityHeaders, name_endpoint
from service.http.key_proofs import KeyProofs, TokenGuard
from service.http.proxy import ClientAddress, Mount
from service.observe.event_log import writes_frequent
from service.pages.cookies import Cookies
from service.pages.error_page import ErrorPages
from service.pages.login_page import LoginPage
from service.pages.pages import Pages
from service.pages.visits import Visits
from service.parts.whole import Parts
from service.protocol.uris import is_loopback
from service.server.connections import CONNECTIONS, FILES_RESERVED, Connections


class PageParts:
    """The parts that know HTTP and HTML."""

    def __init__(self, parts: Parts) -> None:
        shared, configuration = parts.shared, parts.shared.configuration
        session, server = configuration.session, configuration.server
        cookies = build_cookies(shared.issuer, session)
        self.pages = Pages(
            issuer=shared.issuer, ui=configuration.ui, cookies=cookies, registry=shared.registry
        )
        self.errors = ErrorPages(
            pages=self.pages,
            emit=shared.emit,
            clients=parts.clients.directory if configuration.is_development else None,
        )
        self.client_address = build_client_address(server)
        self.credentials = CredentialReader(
            client_address=self.client_address, certificate_header=server.client_certificate_header
        )
        self.proofs = KeyProofs(
            dpop=parts.dpop, room=shared.room, client_address=self.client_address
        )
        self._active_tokens = parts.tokens.active_tokens
        self.visits = Visits(
            flow=parts.flow,
            cookies=cookies,
            client_address=self.client_address,
            pages=self.pages,
            errors=self.errors,
        )
        self.login_page = LoginPage(
            visits=self.visits,
            passkeys=parts.factors.passkey_sign_in,
            registry=shared.registry,
            lockout=configuration.limits.lockout,
        )

    def set_up(self, app: web.Application) -> None:
        """Let the app render templates, and show a page for unknown paths; CannotServe if a template does not compile."""
        self.pages.set_up(app)
        app.middlewares.append(self.errors.show_unknown_path)

    @property
    def guard(self) -> TokenGuard:
        """Finds the access tokens of requests."""
        return TokenGuard(
            active_tokens=self._active_tokens, credentials=self.credentials, proofs=self.proofs
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


def build_application(
    parts: Parts,
    draining: asyncio.Event,
    endpoints: Iterable[Endpoint],
    *,
    files_reserved: int = FILES_RESERVED,
) -> web.Application:
    """Return an app with these endpoints."""
    shared, spans, server = parts.shared, parts.shared.spans, parts.shared.configuration.server
    has_strangers = shared.registration_is_on or shared.documents_are_on
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
        mount=Mount(filter(None, (shared.issuer, server.mtls_base_url)), paths),
        cors=Cors(
            direct,
            registry=shared.registry,
            registered=parts.clients.origins if has_strangers else None,
        ),
        security_headers=SecurityHeaders(is_https=shared.issuer.startswith("https:")),
        draining=draining,
        max_body_bytes=server.max_body_bytes,
        caller=build_client_address(server) if has_strangers else None,
        store_timeout=shared.configuration.store.timeout,
        emit=shared.emit if spans is None else spans.note_answers(shared.emit),
        span=None if spans is None else spans.request,
        emit_at_once=shared.emit_at_once if spans is None and not writes_frequent() else None,
    )
    app.add_routes(route.for_aiohttp() if isinstance(route, Direct) else route for route in routes)
    return app
