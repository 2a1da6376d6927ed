"""Builds the application of the admin listener, which shares nothing with the public one but the parts below it."""

from __future__ import annotations

import asyncio

from aiohttp import web

from service.admin.access import Access
from service.admin.acting import Acting
from service.admin.api import AdminApi, Row
from service.admin.console.pages import Health
from service.admin.reading import Views, reading_rows
from service.clients.proofs import DpopProofs
from service.outbox.looking import Outboxes
from service.web.endpoint import Endpoint
from service.web.key_proofs import KeyProofs, TokenGuard
from service.wiring.console import build_console
from service.wiring.features import Features
from service.wiring.outboxes import open_outboxes
from service.wiring.serving import Edge, build_application
from service.wiring.views import build_views


def build_admin(
    features: Features, edge: Edge, draining: asyncio.Event, health: Health
) -> web.Application | None:
    """Return the application; None where the admin API is off."""
    shared = features.shared
    settings, uses = shared.configuration.admin, features.secret_uses
    if settings is None or settings.url is None or uses is None:
        return None
    access = Access(
        url=settings.url,
        guard=_build_guard(features, edge, settings.url),
        users=shared.users,
        registry=shared.registry,
        emit=shared.emit,
    )
    outboxes = open_outboxes(shared)
    views, acting = build_views(features, uses, outboxes), build_acting(features, outboxes)
    console = build_console(features, settings.url, views, acting, health)
    endpoints: tuple[Endpoint, ...] = (
        AdminApi(access=access, rows=admin_rows(views, acting)),
        console,
    )
    app = build_application(features, draining, endpoints, files_reserved=0, url=settings.url)
    app.middlewares.append(access.require_host)
    console.visits.set_up(app)
    return app


def admin_rows(views: Views, acting: Acting) -> tuple[Row, ...]:
    """Return all rows of the admin API. To add some: a function in `admin/` that returns them, and a line here."""
    return (*reading_rows(views), *acting.rows())


def build_acting(features: Features, outboxes: Outboxes) -> Acting:
    """Build what ends or changes something, for the admin API and for the console."""
    shared = features.shared
    return Acting(
        ending=shared.ending,
        outboxes=outboxes,
        find_registration=lambda: features.registration,
        find_keys=lambda: features.key_source,
        emit=shared.emit,
    )


def _build_guard(features: Features, edge: Edge, url: str) -> TokenGuard:
    """Build what accepts access tokens, whose proofs of possession are for URLs of the admin API."""
    dpop = features.dpop
    own = DpopProofs(
        base_urls=(url.rstrip("/"),),
        lifetime=dpop.lifetime,
        clock_skew=dpop.clock_skew,
        nonces=dpop.nonces,
        stores=dpop.stores,
    )
    proofs = KeyProofs(dpop=own, room=features.shared.room, client_address=edge.client_address)
    return TokenGuard(
        active_tokens=features.active_tokens, credentials=edge.credentials, proofs=proofs
    )
