"""Builds the parts that know users: sessions, sign-in, authorization requests and logout."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from math import ceil

from service.authorize.answer import Answering
from service.authorize.flow import AuthorizeFlow
from service.authorize.parameters import PARAMETERS, EndpointKind
from service.authorize.parking import Parking
from service.authorize.reader import RequestReader
from service.authorize.request_object import RequestObjects
from service.authorize.request_uri import RequestUris
from service.authorize.steps import builtin_steps
from service.identity.authorizations import Authorizations
from service.identity.consents import Consents
from service.identity.decoy import Decoy
from service.identity.partial_sign_ins import PartialSignIns
from service.identity.passwords import Passwords, turns_per_core
from service.identity.providers.directory import ProviderDirectory
from service.identity.providers.sign_in import CALLBACK, ProviderSignIn
from service.identity.refusal_times import RefusalTimes
from service.identity.sessions import SessionLimits, Sessions
from service.identity.sign_in import LocalSignIn
from service.identity.subjects import Subjects
from service.identity.throttle import LoginLimits, Throttle
from service.identity.users import open_users
from service.logout import request as logout_request
from service.logout.back_channel import BackChannel
from service.logout.delivering import LogoutDeliveries
from service.logout.front_channel import FrontChannel
from service.logout.logout_token import LogoutTokens
from service.logout.queue import LEASE_MARGIN, LogoutQueue
from service.model.user import UserStore
from service.parts.clients import ClientParts, KeyParts, TokenParts
from service.parts.shared import Shared


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRecords:
    """The records of users in the store, which need no user store to be read."""

    sessions: Sessions
    partial_sign_ins: PartialSignIns
    consents: Consents
    authorizations: Authorizations


def build_records(shared: Shared) -> UserRecords:
    """Build what reads and writes sessions, consents and authorizations."""
    stores, now, emit = shared.stores, shared.now, shared.emit
    session = shared.configuration.session
    limits = SessionLimits(lifetime=session.lifetime, max_lifetime=session.max_lifetime)
    return UserRecords(
        sessions=Sessions(stores=stores, limits=limits, ended=asyncio.Event(), now=now, emit=emit),
        partial_sign_ins=PartialSignIns(stores),
        consents=Consents(stores=stores, now=now, emit=emit),
        authorizations=Authorizations(stores=stores, now=now, emit=emit),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInParts:
    """The users, and the ways to sign them in."""

    users: UserStore
    subjects: Subjects
    local: LocalSignIn
    providers: ProviderSignIn


def build_sign_in(shared: Shared) -> SignInParts:
    """Build sign-in by password and at identity providers; make the operator's user store."""
    users, prefix = open_users(shared.registry), shared.configuration.store.key_prefix
    limits, http = (
        shared.configuration.limits,
        shared.http_for("identity_provider", shared.outgoing),
    )
    login = LoginLimits(
        failures=limits.login_failures, window=limits.login_window, lockout=limits.lockout
    )
    return SignInParts(
        users=users,
        subjects=Subjects(users=users, registry=shared.registry),
        local=LocalSignIn(
            users=users,
            passwords=Passwords(decoy=Decoy(shared.registry)),
            turns=turns_per_core(),
            refusal_times=RefusalTimes(),
            throttle=Throttle(kv=shared.kv, prefix=prefix, limits=login),
            emit=shared.emit,
        ),
        providers=ProviderSignIn(
            redirect_uri=shared.issuer.rstrip("/") + CALLBACK,
            registry=shared.registry,
            directory=ProviderDirectory(http=http, now=shared.now),
            http=http,
            stores=shared.stores,
            rate_limit=shared.rate_limit("parked", limits.parked_requests_per_minute),
            clock_skew=shared.configuration.server.clock_skew,
            emit=shared.emit,
            now=shared.now,
        ),
    )


def build_flow(
    shared: Shared, keys: KeyParts, clients: ClientParts, tokens: TokenParts, records: UserRecords
) -> AuthorizeFlow:
    """Build what answers authorization requests."""
    return AuthorizeFlow(
        reader=RequestReader(
            issuer=shared.issuer,
            registry=shared.registry,
            clients=clients.directory,
            request_objects=RequestObjects(
                issuer=shared.issuer,
                keys=keys.of_clients,
                uris=RequestUris(shared.client_http("request_object"), now=shared.now),
                clock_skew=shared.configuration.server.clock_skew,
                now=shared.now,
            ),
            hints=tokens.id_token_hints,
        ),
        registry=shared.registry,
        steps=builtin_steps(),
        parking=_build_parking(shared, "authorize", PARAMETERS[EndpointKind.AUTHORIZE]),
        consents=records.consents,
        answering=Answering(
            access_tokens=tokens.access_tokens,
            id_tokens=tokens.id_tokens,
            registry=shared.registry,
            stores=shared.stores,
            emit=shared.emit,
        ),
        emit=shared.emit,
        now=shared.now,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutParts:
    """The ways in which clients learn that a session has ended."""

    front_channel: FrontChannel
    deliveries: LogoutDeliveries
    parking: Parking


def build_logout(
    shared: Shared, keys: KeyParts, clients: ClientParts, tokens: TokenParts, records: UserRecords
) -> LogoutParts:
    """Build front-channel logout, back-channel logout and the parking of logout requests."""
    lease = ceil(shared.configuration.outgoing.timeout) + LEASE_MARGIN
    queue = LogoutQueue(stores=shared.stores, lease=lease, now=shared.now)
    back_channel = BackChannel(
        queue=queue,
        clients=clients.directory,
        tokens=LogoutTokens(
            issuer=shared.issuer, keys=keys.of_clients, identifiers=tokens.identifiers
        ),
        http=shared.client_http("logout"),
        emit=shared.emit,
        now=shared.now,
    )
    attempt = back_channel.attempt
    return LogoutParts(
        front_channel=FrontChannel(issuer=shared.issuer, clients=clients.directory),
        deliveries=LogoutDeliveries(
            queue=queue,
            attempt=attempt if shared.spans is None else shared.spans.trace_deliveries(attempt),
            clients=clients.directory,
            wake=records.sessions.ended,
        ),
        parking=_build_parking(shared, "logout", logout_request.PARAMETERS),
    )


def _build_parking(shared: Shared, purpose: str, parameters: frozenset[str]) -> Parking:
    per_minute = shared.configuration.limits.parked_requests_per_minute
    return Parking(
        stores=shared.stores,
        purpose=purpose,
        parameters=parameters,
        rate_limit=shared.rate_limit("parked", per_minute),
    )
