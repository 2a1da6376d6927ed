"""Builds the application of the admin listener, which shares nothing with the public one but the parts below it."""

from __future__ import annotations

import asyncio

from aiohttp import web
from msgspec.structs import replace

from service.admin.access import Access
from service.admin.acting import Acting
from service.admin.api import AdminApi, Row
from service.admin.console.changes import CHANGES, Confirmation
from service.admin.console.operators import Operators
from service.admin.console.pages import Console, Health
from service.admin.console.registry_pages import RegistryPages
from service.admin.console.sign_in import ConsoleSignIn
from service.admin.console.user_pages import UserPages
from service.admin.console.visits import ConsoleVisits
from service.admin.reading import Views, reading_rows
from service.admin.views.apis import ApiViews
from service.admin.views.clients import ClientViews
from service.admin.views.reach import ReachViews
from service.admin.views.users import UserViews
from service.admin.ways.places import LatestPlaces
from service.clients.proofs import DpopProofs
from service.clients.registered_list import RegisteredList
from service.clients.secret_uses import SecretUses
from service.config.schema.file import Ui
from service.grants.authorization_code import AuthorizationCodeGrant
from service.outbox.looking import Outboxes
from service.web.endpoint import Endpoint
from service.web.key_proofs import KeyProofs, TokenGuard
from service.web.pages.pages import Pages
from service.wiring.features import Features
from service.wiring.outboxes import open_outboxes
from service.wiring.serving import Edge, build_application, build_cookies

LANGUAGE = "en"


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
    views, acting = _build_views(features, uses, outboxes), build_acting(features, outboxes)
    console = _build_console(features, settings.url, views, acting, health)
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


def _build_views(features: Features, uses: SecretUses, outboxes: Outboxes) -> Views:
    """Build the views, for the admin API and for the console."""
    shared, places = features.shared, LatestPlaces()
    return Views(
        clients=ClientViews(
            clients=features.clients,
            listed=RegisteredList(shared.stores),
            uses=uses,
            places=places,
        ),
        apis=ApiViews(registry=shared.registry, uses=uses, places=places),
        users=UserViews(
            source=shared.configuration.users.source,
            users=shared.users,
            stores=shared.stores,
            sessions=shared.sessions,
            authorizations=shared.authorizations,
            factors=shared.factors,
            guesses=shared.guesses,
        ),
        keys=features.key_source,
        registry=shared.registry,
        reach=ReachViews(shared.registry),
        explained=features.explained,
        outboxes=outboxes,
    )


def _build_console(
    features: Features, url: str, views: Views, acting: Acting, health: Health
) -> Console:
    """Build the pages, and the reader of the operators' sessions."""
    shared = features.shared
    session = replace(shared.configuration.session, cookie_name="console", cookie_same_site="lax")
    cookies = build_cookies(url, session)
    visits = ConsoleVisits(
        sign_in=ConsoleSignIn(
            issuer=shared.issuer,
            registry=shared.registry,
            codes=AuthorizationCodeGrant(shared.registry, features.revocation),
        ),
        operators=Operators(
            stores=shared.stores,
            sessions=shared.sessions,
            users=shared.users,
            registry=shared.registry,
        ),
        registry=shared.registry,
        cookies=cookies,
        pages=Pages(
            issuer=url,
            ui=_look(shared.configuration.ui),
            cookies=cookies,
            registry=shared.registry,
        ),
        done_texts={name: change.done for name, change in CHANGES.items()},
        emit=shared.emit,
    )
    return Console(
        issuer=shared.issuer,
        visits=visits,
        views=views,
        health=health,
        memory=shared.store_memory,
        registry_pages=RegistryPages(visits=visits, views=views, registry=shared.registry),
        user_pages=UserPages(visits=visits, views=views.users),
        confirmation=Confirmation(visits=visits, views=views.users, acting=acting),
    )


def _look(ui: Ui) -> Ui:
    """Return the look of the console: the built-in templates, with the operator's accent."""
    english = {"locales": (LANGUAGE,), "default_locale": LANGUAGE}
    return replace(ui, templates=None, logo=None, background=None, links={}, **english)
