"""The composition root, to be read first: settings in, parts from `parts/`, endpoints in a list, an aiohttp app out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec
from aiohttp import web

from service.config.configuration import Configuration
from service.endpoints.account import AccountEndpoint
from service.endpoints.account_requests import AccountRequestsEndpoint
from service.endpoints.add_factor import AddFactorEndpoint
from service.endpoints.authorize import AuthorizeEndpoint
from service.endpoints.backchannel_authentication import BackchannelAuthenticationEndpoint
from service.endpoints.check_session import CheckSessionEndpoint
from service.endpoints.consent import ConsentEndpoint
from service.endpoints.create_account import CreateAccountEndpoint
from service.endpoints.demonstration import DemonstrationEndpoint
from service.endpoints.device import DeviceEndpoint
from service.endpoints.device_authorization import DeviceAuthorizationEndpoint
from service.endpoints.discovery import DiscoveryEndpoint
from service.endpoints.end_session import EndSessionEndpoint
from service.endpoints.introspection import IntrospectionEndpoint
from service.endpoints.login import LoginEndpoint
from service.endpoints.not_allowed import NotAllowedEndpoint
from service.endpoints.operations import OperationsEndpoint
from service.endpoints.provider import ProviderEndpoint
from service.endpoints.pushed_request import PushedRequestEndpoint
from service.endpoints.redirect import CHANGE_PASSWORD, HOME, RedirectEndpoint
from service.endpoints.revocation import RevocationEndpoint
from service.endpoints.second_factor import SecondFactorEndpoint
from service.endpoints.security import SecurityEndpoint
from service.endpoints.select_account import SelectAccountEndpoint
from service.endpoints.token import TokenEndpoint
from service.endpoints.userinfo import UserinfoEndpoint
from service.events.event import Emit
from service.grants import Grants
from service.http.client_requests import ClientRequests
from service.http.endpoint import Endpoint
from service.identity.providers.logout import ProviderLogout
from service.pages.cookies import Cookie
from service.pages.visits import ACCOUNT
from service.parts.gateway import gateway_endpoints
from service.parts.live import (
    background_work,
    build_grants,
    build_remembered_answers,
    connect,
)
from service.parts.shared import Shared
from service.parts.web import PageParts, build_application
from service.parts.whole import Parts

if TYPE_CHECKING:
    from service.observe.spans import Spans


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """The app, and the parts that the process around it needs."""

    app: web.Application
    management: web.Application | None
    """Health and metrics, where they have a port of their own."""
    parts: Parts
    draining: asyncio.Event


def create_app(
    configuration: Configuration,
    *listeners: Emit,
    environ: Mapping[str, str] = os.environ,
    spans: Spans | None = None,
    read: Callable[[], Configuration] | None = None,
) -> Service:
    """Build everything; nothing connects to the store before the app starts. `read` reads the configuration again at a reload."""
    parts = Parts(Shared(configuration, *listeners, environ=environ, spans=spans, read=read))
    pages, grants, draining = PageParts(parts), build_grants(parts), asyncio.Event()
    connect(parts, grants)
    endpoints = (
        *client_endpoints(parts, pages, grants),
        *resource_endpoints(parts, pages),
        *registration_endpoints(parts, pages),
        *sign_in_endpoints(parts, pages),
        *account_endpoints(parts, pages),
        *ciba_endpoints(parts, pages),
    )
    discovery = DiscoveryEndpoint(
        issuer=parts.shared.issuer,
        endpoints=endpoints,
        algorithms=parts.keys.algorithms,
        locales=configuration.ui.locales,
        subject_types=parts.tokens.identifiers.types,
        registrable=parts.clients.registrable,
        documents=parts.shared.documents_are_on,
        certificates=configuration.server.takes_certificates,
        aliases_below=configuration.server.mtls_base_url,
    )
    operations = OperationsEndpoint(
        render_metrics=parts.shared.metrics.render,
        ring=parts.keys.ring,
        memory=parts.shared.store_memory,
        registry=parts.shared.registry,
        draining=draining,
        unready_after=configuration.store.unready_after,
    )
    apart = configuration.server.management_port is not None
    public = (*endpoints, discovery, pages.pages, *(() if apart else (operations,)))
    app = build_application(parts, draining, public)
    pages.set_up(app)
    app.cleanup_ctx.append(background_work(parts))
    management = (
        build_application(parts, draining, (operations,), files_reserved=0) if apart else None
    )
    return Service(app=app, management=management, parts=parts, draining=draining)


def client_endpoints(parts: Parts, pages: PageParts, grants: Grants) -> tuple[Endpoint, ...]:
    """For clients. To add one: a file in `endpoints/`, and an entry here."""
    shared, tokens, clients = parts.shared, parts.tokens, parts.clients
    return (
        _token_endpoint(parts, pages, grants),
        PushedRequestEndpoint(
            from_clients=_requests_of_clients("par", parts, pages),
            arriving=parts.arriving,
            settings=shared.configuration,
        ),
        DeviceAuthorizationEndpoint(
            from_clients=_requests_of_clients("device", parts, pages),
            issuer=shared.issuer,
            reader=parts.flow.reader,
            stores=shared.stores,
            registry=shared.registry,
            room=shared.room,
            registrable=clients.registrable,
            emit=shared.emit,
        ),
        RevocationEndpoint(
            client_auth=clients.authentication,
            active_tokens=tokens.active_tokens,
            revocation=tokens.revocation,
            credentials=pages.credentials,
            emit=shared.emit,
        ),
    )


def _token_endpoint(parts: Parts, pages: PageParts, grants: Grants) -> TokenEndpoint:
    shared, clients = parts.shared, parts.clients
    per_minute = shared.configuration.limits.token_requests_per_minute
    return TokenEndpoint(
        client_auth=clients.authentication,
        grants=grants,
        subjects=parts.sign_in.subjects,
        issuer=parts.tokens.issuer,
        registry=shared.registry,
        rate_limit=shared.rate_limit("token", per_minute),
        room=shared.room,
        credentials=pages.credentials,
        proofs=pages.proofs,
        emit=shared.emit,
        registrable=clients.registrable,
    )


def _requests_of_clients(counted_as: str, parts: Parts, pages: PageParts) -> ClientRequests:
    shared = parts.shared
    per_minute = shared.configuration.limits.token_requests_per_minute
    return ClientRequests(
        client_auth=parts.clients.authentication,
        credentials=pages.credentials,
        proofs=pages.proofs,
        rate_limit=shared.rate_limit(counted_as, per_minute),
        emit=shared.emit,
    )


def resource_endpoints(parts: Parts, pages: PageParts) -> tuple[Endpoint, ...]:
    """For holders of access tokens, and for API resources that introspect them."""
    shared, tokens, clients = parts.shared, parts.tokens, parts.clients
    return (
        *gateway_endpoints(parts, pages.guard),
        UserinfoEndpoint(
            guard=pages.guard,
            subjects=parts.sign_in.subjects,
            identifiers=tokens.identifiers,
            keys=parts.keys.of_clients,
            algorithms=parts.keys.algorithms,
        ),
        IntrospectionEndpoint(
            client_auth=clients.authentication,
            active_tokens=tokens.active_tokens,
            identifiers=tokens.identifiers,
            registry=shared.registry,
            keys=parts.keys.of_clients,
            algorithms=parts.keys.algorithms,
            credentials=pages.credentials,
            remembered=build_remembered_answers(parts),
            emit=shared.emit,
        ),
    )


def registration_endpoints(parts: Parts, pages: PageParts) -> tuple[Endpoint, ...]:
    """For clients that register themselves, where they may."""
    shared, registration = parts.shared, parts.clients.registration
    if registration is None:
        return ()
    from service.endpoints.register import OPEN_PER_MINUTE, RegisterEndpoint  # noqa: PLC0415 - where clients may register

    return (
        RegisterEndpoint(
            issuer=shared.issuer,
            registration=registration,
            initial_access_tokens=shared.configuration.registration.initial_access_token_sha256,
            rate_limit=shared.rate_limit("registration", OPEN_PER_MINUTE),
            client_address=pages.client_address,
            emit=shared.emit,
        ),
    )


def sign_in_endpoints(parts: Parts, pages: PageParts) -> tuple[Endpoint, ...]:
    """For users whom clients send here: a page for each step of `authorize/steps`."""
    shared = parts.shared
    return (
        AuthorizeEndpoint(
            visits=pages.visits,
            registrable=parts.clients.registrable,
            algorithms=parts.keys.algorithms,
        ),
        LoginEndpoint(
            visits=pages.visits,
            local=parts.sign_in.local,
            providers=parts.sign_in.providers,
            login_page=pages.login_page,
        ),
        ProviderEndpoint(
            registry=shared.registry,
            credentials=parts.sign_in.providers.credentials,
            logout=ProviderLogout(
                directory=parts.sign_in.providers.directory,
                sessions=parts.records.sessions,
                stores=shared.stores,
                clock_skew=shared.configuration.server.clock_skew,
                emit=shared.emit,
            ),
        ),
        SecondFactorEndpoint(visits=pages.visits, second_factors=parts.factors.second_factors),
        CreateAccountEndpoint(visits=pages.visits),
        SelectAccountEndpoint(visits=pages.visits),
        NotAllowedEndpoint(visits=pages.visits),
        ConsentEndpoint(visits=pages.visits),
        DeviceEndpoint(visits=pages.visits),
    )


def account_endpoints(parts: Parts, pages: PageParts) -> tuple[Endpoint, ...]:
    """For users who come without a client's request: start page, account and logout."""
    links = parts.shared.configuration.ui.links
    return (
        EndSessionEndpoint(
            visits=pages.visits, logout=parts.user_logout, parking=parts.parked_logouts
        ),
        AccountEndpoint(visits=pages.visits, logout=parts.user_logout, access=parts.records.access),
        SecurityEndpoint(visits=pages.visits, changes=parts.factors.changes),
        AddFactorEndpoint(visits=pages.visits, changes=parts.factors.changes),
        CheckSessionEndpoint.reading(pages.visits.cookies.name(Cookie.BROWSER_STATE)),
        _home_endpoint(parts, pages),
        RedirectEndpoint(
            path=CHANGE_PASSWORD,
            location=links.get("change_password", links.get("forgot_password")),
        ),
        pages.errors,
    )


def ciba_endpoints(parts: Parts, pages: PageParts) -> tuple[Endpoint, ...]:
    """For clients that ask for a user's authentication, and for the users who confirm it elsewhere."""
    shared = parts.shared
    return (
        BackchannelAuthenticationEndpoint(
            from_clients=_requests_of_clients("ciba", parts, pages),
            reader=parts.ciba.reader,
            requests=parts.ciba.requests,
            notifier=parts.ciba.notifier,
            issuer=shared.issuer,
            registry=shared.registry,
            registrable=parts.clients.registrable,
            emit=shared.emit,
        ),
        AccountRequestsEndpoint(visits=pages.visits, requests=parts.ciba.requests),
    )


def _home_endpoint(parts: Parts, pages: PageParts) -> Endpoint:
    if not parts.shared.configuration.is_development:
        return RedirectEndpoint(path=HOME, location=pages.pages.url(ACCOUNT))
    return DemonstrationEndpoint(visits=pages.visits, passwords=parts.sign_in.local.passwords)
