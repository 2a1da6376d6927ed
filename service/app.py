"""The composition root, to be read first: settings in, parts from `wiring/`, endpoints in a list, an aiohttp app out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from aiohttp import web

from service.authorize.interaction import Step
from service.config.configuration import Configuration
from service.endpoints.account import AccountEndpoint
from service.endpoints.authorize import AuthorizeEndpoint
from service.endpoints.check import CheckEndpoint
from service.endpoints.consent import CONSENT, ConsentEndpoint
from service.endpoints.create_account import CREATE_ACCOUNT, CreateAccountEndpoint
from service.endpoints.demonstration import DemonstrationEndpoint
from service.endpoints.device import DeviceEndpoint
from service.endpoints.device_authorization import DeviceAuthorizationEndpoint
from service.endpoints.discovery import DiscoveryEndpoint
from service.endpoints.end_session import EndSessionEndpoint
from service.endpoints.factors.add_factor import AddFactorEndpoint
from service.endpoints.factors.second_factor import SecondFactorEndpoint
from service.endpoints.factors.security import SecurityEndpoint
from service.endpoints.factors.step import SECOND_FACTOR
from service.endpoints.global_revocation import GlobalRevocationEndpoint
from service.endpoints.introspection import IntrospectionEndpoint
from service.endpoints.login import IDENTITY_PROVIDER, LOGIN, LoginEndpoint
from service.endpoints.login_page import LoginPage
from service.endpoints.not_allowed import NOT_ALLOWED, NotAllowedEndpoint
from service.endpoints.operations import OperationsEndpoint
from service.endpoints.protected_resource import ProtectedResourceEndpoint
from service.endpoints.provider import ProviderEndpoint
from service.endpoints.pushed_request import PushedRequestEndpoint
from service.endpoints.redirect import CHANGE_PASSWORD, HOME, RedirectEndpoint
from service.endpoints.register import OPEN_PER_MINUTE, RegisterEndpoint
from service.endpoints.revocation import RevocationEndpoint
from service.endpoints.select_account import SELECT_ACCOUNT, SelectAccountEndpoint
from service.endpoints.session_frames import CheckSessionEndpoint, KeycloakFramesEndpoint
from service.endpoints.token import TokenEndpoint
from service.endpoints.userinfo import UserinfoEndpoint
from service.events.event import Emit
from service.identity.providers.logout import ProviderLogout
from service.protocol.paths import ACCOUNT
from service.tokens.access_token import ForwardedTokens
from service.web.endpoint import Endpoint
from service.web.pages.cookies import Cookie
from service.wiring.admin import build_admin
from service.wiring.ciba import build_ciba
from service.wiring.features import Features
from service.wiring.outboxes import (
    build_logout_deliveries,
    build_webhook_deliveries,
)
from service.wiring.serving import (
    Edge,
    background_work,
    build_application,
    build_client_requests,
    build_readings,
    build_remembered_answers,
)
from service.wiring.shared import Shared

if TYPE_CHECKING:
    from service.observe.spans import Spans


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """The app, and what the process around it needs."""

    app: web.Application
    management: web.Application | None
    """Health and metrics, where they have a port of their own."""
    admin: web.Application | None
    """The admin API and the console, where they are on."""
    features: Features
    draining: asyncio.Event
    compile_pages: Callable[[], None]


def create_app(
    configuration: Configuration,
    *listeners: Emit,
    environ: Mapping[str, str] = os.environ,
    spans: Spans | None = None,
    read: Callable[[], Configuration] | None = None,
) -> Service:
    """Build everything; nothing connects to the store before the app starts. `read` reads the configuration again at a reload."""
    shared = Shared(configuration, *listeners, environ=environ, spans=spans, read=read)
    features, draining = Features(shared), asyncio.Event()
    edge = Edge(features, [step for page in STEP_PAGES for step in page.steps])
    ciba, logouts = build_ciba(features, edge), build_logout_deliveries(features)
    webhooks = build_webhook_deliveries(shared)
    shared.metrics.watch(build_readings(features, logouts.queue, webhooks.queue))
    endpoints = (
        *client_endpoints(features, edge),
        *resource_endpoints(features, edge),
        *registration_endpoints(features, edge),
        *sign_in_endpoints(features, edge),
        *account_endpoints(features, edge),
        *ciba.endpoints,
    )
    operations = OperationsEndpoint(
        render_metrics=shared.metrics.render,
        ring=features.ring,
        memory=shared.store_memory,
        registry=shared.registry,
        draining=draining,
        unready_after=configuration.store.unready_after,
    )
    apart = configuration.server.management_port is not None
    last = (_discovery_endpoint(features, endpoints), edge.pages)
    public = (*endpoints, *last, *(() if apart else (operations,)))
    app = build_application(features, draining, public)
    edge.set_up(app)
    sent = (webhooks,) if configuration.events.webhooks else ()
    app.cleanup_ctx.append(background_work(features, logouts, ciba.deliveries, *sent))
    build_apart = partial(build_application, features, draining, files_reserved=0)
    return Service(
        app=app,
        management=build_apart((operations,)) if apart else None,
        admin=build_admin(features, edge, draining, operations),
        features=features,
        draining=draining,
        compile_pages=edge.pages.compile,
    )


def _discovery_endpoint(features: Features, endpoints: tuple[Endpoint, ...]) -> DiscoveryEndpoint:
    shared, server = features.shared, features.shared.configuration.server
    return DiscoveryEndpoint(
        issuer=shared.issuer,
        endpoints=endpoints,
        algorithms=features.algorithms,
        locales=shared.configuration.ui.locales,
        subject_types=features.identifiers.types,
        registrable=features.registrable,
        documents=shared.documents_are_on,
        certificates=server.takes_certificates,
        aliases_below=server.mtls_base_url,
    )


def client_endpoints(features: Features, edge: Edge) -> tuple[Endpoint, ...]:
    """For clients. To add one: a file in `endpoints/`, and an entry here."""
    shared = features.shared
    return (
        _token_endpoint(features, edge),
        PushedRequestEndpoint(
            from_clients=build_client_requests("par", features, edge),
            arriving=features.arriving,
            settings=shared.configuration,
        ),
        DeviceAuthorizationEndpoint(
            from_clients=build_client_requests("device", features, edge),
            issuer=shared.issuer,
            reader=features.arriving.reader,
            stores=shared.stores,
            registry=shared.registry,
            room=shared.room,
            registrable=features.registrable,
            emit=shared.emit,
        ),
        _global_revocation_endpoint(features, edge),
        RevocationEndpoint(
            client_auth=features.client_authentication,
            active_tokens=features.active_tokens,
            revocation=features.revocation,
            credentials=edge.credentials,
            emit=shared.emit,
        ),
    )


def _global_revocation_endpoint(features: Features, edge: Edge) -> GlobalRevocationEndpoint:
    shared = features.shared
    per_minute = shared.configuration.limits.revocations_per_minute
    return GlobalRevocationEndpoint(
        issuer=shared.issuer,
        registry=shared.registry,
        client_auth=features.client_authentication,
        credentials=edge.credentials,
        tokens=features.revocation_tokens,
        users=features.revocable_users,
        ending=shared.user_ending,
        rate_limit=shared.rate_limit("revoke", per_minute),
        emit=shared.emit,
    )


def _token_endpoint(features: Features, edge: Edge) -> TokenEndpoint:
    shared = features.shared
    per_minute = shared.configuration.limits.token_requests_per_minute
    return TokenEndpoint(
        client_auth=features.client_authentication,
        grants=features.grants,
        users=features.shared.users,
        issuer=features.token_issuer,
        registry=shared.registry,
        rate_limit=shared.rate_limit("token", per_minute),
        room=shared.room,
        credentials=edge.credentials,
        proofs=edge.proofs,
        emit=shared.emit,
        registrable=features.registrable,
    )


def resource_endpoints(features: Features, edge: Edge) -> tuple[Endpoint, ...]:
    """For holders of access tokens, and for API resources that introspect them."""
    shared = features.shared
    return (
        CheckEndpoint(
            client_auth=features.client_authentication,
            guard=edge.guard,
            forwarded=ForwardedTokens(keys=features.ring, registry=shared.registry),
            transaction_tokens=features.transaction_tokens,
            registry=shared.registry,
            emit=shared.emit,
        ),
        ProtectedResourceEndpoint(
            issuer=shared.issuer,
            registry=shared.registry,
            certificates=shared.configuration.server.takes_certificates,
        ),
        UserinfoEndpoint(
            guard=edge.guard,
            subjects=features.subjects,
            identifiers=features.identifiers,
            keys=features.client_keys,
            algorithms=features.algorithms,
        ),
        IntrospectionEndpoint(
            client_auth=features.client_authentication,
            active_tokens=features.active_tokens,
            identifiers=features.identifiers,
            registry=shared.registry,
            keys=features.client_keys,
            algorithms=features.algorithms,
            credentials=edge.credentials,
            remembered=build_remembered_answers(shared, features.ring),
            emit=shared.emit,
        ),
    )


def registration_endpoints(features: Features, edge: Edge) -> tuple[Endpoint, ...]:
    """For clients that register themselves, where they may."""
    shared, registration = features.shared, features.registration
    if registration is None:
        return ()
    return (
        RegisterEndpoint(
            issuer=shared.issuer,
            registration=registration,
            initial_access_tokens=shared.configuration.registration.initial_access_token_sha256,
            rate_limit=shared.rate_limit("registration", OPEN_PER_MINUTE),
            client_address=edge.client_address,
            emit=shared.emit,
        ),
    )


class StepPage(msgspec.Struct, frozen=True):
    """Steps of a sign-in, and the endpoint with their pages."""

    steps: tuple[Step, ...]
    make: Callable[[Features, Edge], Endpoint]


STEP_PAGES: tuple[StepPage, ...] = (
    StepPage((CREATE_ACCOUNT,), lambda _, edge: CreateAccountEndpoint(visits=edge.visits)),
    StepPage((SELECT_ACCOUNT,), lambda _, edge: SelectAccountEndpoint(visits=edge.visits)),
    StepPage(
        (IDENTITY_PROVIDER, LOGIN),
        lambda features, edge: LoginEndpoint(
            visits=edge.visits,
            local=features.local_sign_in,
            providers=features.provider_sign_in,
            login_page=LoginPage(
                visits=edge.visits,
                passkeys=features.passkey_sign_in,
                registry=features.shared.registry,
                lockout=features.shared.configuration.limits.lockout,
            ),
        ),
    ),
    StepPage(
        (SECOND_FACTOR,),
        lambda features, edge: SecondFactorEndpoint(
            visits=edge.visits, second_factors=features.second_factors
        ),
    ),
    StepPage((NOT_ALLOWED,), lambda _, edge: NotAllowedEndpoint(visits=edge.visits)),
    StepPage((CONSENT,), lambda _, edge: ConsentEndpoint(visits=edge.visits)),
)
"""In the order in which a user meets them. To add one: a file in `endpoints/`, a template, and an entry here."""


def sign_in_endpoints(features: Features, edge: Edge) -> tuple[Endpoint, ...]:
    """For users whom clients send here."""
    shared = features.shared
    return (
        AuthorizeEndpoint(
            visits=edge.visits,
            registrable=features.registrable,
            algorithms=features.algorithms,
        ),
        *(page.make(features, edge) for page in STEP_PAGES),
        ProviderEndpoint(
            registry=shared.registry,
            credentials=features.provider_sign_in.credentials,
            logout=ProviderLogout(
                directory=features.provider_sign_in.directory,
                sessions=shared.sessions,
                stores=shared.stores,
                clock_skew=shared.configuration.server.clock_skew,
                emit=shared.emit,
            ),
        ),
        DeviceEndpoint(visits=edge.visits),
    )


def account_endpoints(features: Features, edge: Edge) -> tuple[Endpoint, ...]:
    """For users who come without a client's request: start page, account and logout."""
    links = features.shared.configuration.ui.links
    return (
        EndSessionEndpoint(
            visits=edge.visits, logout=features.user_logout, parking=features.parked_logouts
        ),
        AccountEndpoint(visits=edge.visits, logout=features.user_logout, access=features.access),
        SecurityEndpoint(visits=edge.visits, changes=features.factor_changes),
        AddFactorEndpoint(visits=edge.visits, changes=features.factor_changes),
        CheckSessionEndpoint(cookie=edge.visits.cookies.name(Cookie.BROWSER_STATE)),
        *_keycloak_frames(features, edge),
        _home_endpoint(features, edge),
        RedirectEndpoint(
            path=CHANGE_PASSWORD,
            location=links.get("change_password", links.get("forgot_password")),
        ),
        edge.errors,
    )


def _keycloak_frames(features: Features, edge: Edge) -> tuple[Endpoint, ...]:
    if "keycloak" not in features.shared.configuration.path_aliases:
        return ()
    cookie = edge.visits.cookies.name(Cookie.BROWSER_STATE)
    return (KeycloakFramesEndpoint(cookie=cookie, clients=features.clients),)


def _home_endpoint(features: Features, edge: Edge) -> Endpoint:
    if not features.shared.configuration.is_development:
        return RedirectEndpoint(path=HOME, location=edge.pages.url(ACCOUNT))
    passwords = features.local_sign_in.passwords
    return DemonstrationEndpoint(
        visits=edge.visits, passwords=passwords, find_gate=lambda: edge.gate
    )
