"""All parts of the service, and those that know users: sign-in, authorization requests, logout."""

from __future__ import annotations

import asyncio
from math import ceil

from service.authorize.answer import Answering
from service.authorize.checks import RequestReader
from service.authorize.device import KEPT as KEPT_OF_DEVICES
from service.authorize.flow import AuthorizeFlow
from service.authorize.parameters import KEPT
from service.authorize.parking import Parking
from service.authorize.request_object import RequestObjects
from service.authorize.request_uri import RequestUris
from service.authorize.steps import BUILTIN_STEPS
from service.ciba.hints import Hints, UserCodes
from service.ciba.messages import Messages
from service.ciba.notifier import SafeNotifier, open_notifier
from service.ciba.request import CibaReader
from service.ciba.requests import PER_MINUTE, CibaRequests
from service.clients.issuer_keys import IssuerKeys
from service.clients.published_keys import PublishedKeys
from service.identity.assertions import ForeignAssertions
from service.identity.passwords import FairTurns, Passwords
from service.identity.providers.accounts import ProviderAccounts
from service.identity.providers.credentials import OwnCredentials
from service.identity.providers.provider import ProviderDirectory
from service.identity.providers.sign_in import ProviderSignIn
from service.identity.refusal_costs import RefusalCosts
from service.identity.sign_in import LocalSignIn, Throttle
from service.identity.users import Subjects
from service.keys.sealing import Seal
from service.logout.back_channel import BackChannel
from service.logout.request import PARAMETERS as LOGOUT_PARAMETERS
from service.logout.request import UserLogout
from service.model.backchannel import BackchannelDelivery
from service.model.session import LogoutDelivery
from service.model.user import UserStore
from service.outbox.delivering import Deliveries
from service.outbox.queue import LEASE_MARGIN, D, Outbox
from service.parts.clients import ClientParts, TokenParts
from service.parts.device import build_device_requests
from service.parts.factors import FactorParts
from service.parts.keys import KeyParts
from service.parts.shared import Shared
from service.parts.users import UserRecords, open_directory
from service.protocol.paths import TOKEN as TOKEN_ENDPOINT
from service.store.records import Queue, Records


class SignInParts:
    """The users, and the ways to sign them in: by password and at identity providers."""

    def __init__(self, shared: Shared, keys: KeyParts) -> None:
        """Raise CannotServe if the operator's user store cannot be made."""
        limits = shared.configuration.limits
        self.users = open_directory(shared)
        self.subjects = Subjects(users=self.users, registry=shared.registry)
        passwords = Passwords(shared.registry)
        self.local = LocalSignIn(
            users=self.users,
            passwords=passwords,
            costs=RefusalCosts(users=self.users, passwords=passwords, stores=shared.stores),
            turns=FairTurns(),
            throttle=Throttle(kv=shared.kv, prefix=shared.prefix, limits=limits),
            emit=shared.emit,
        )
        self.assertions = build_foreign_assertions(shared, self.users)
        self.providers = ProviderSignIn(
            issuer=shared.issuer.rstrip("/"),
            registry=shared.registry,
            credentials=OwnCredentials(ring=keys.ring),
            accounts=ProviderAccounts(users=self.users, registry=shared.registry),
            directory=ProviderDirectory(http=shared.http_for("identity_provider", shared.outgoing)),
            stores=shared.stores,
            rate_limit=shared.rate_limit("parked", limits.parked_requests_per_minute),
            clock_skew=shared.configuration.server.clock_skew,
            emit=shared.emit,
        )


def build_foreign_assertions(shared: Shared, users: UserStore) -> ForeignAssertions:
    """Build what verifies JWTs of trusted issuers."""
    client_http = shared.client_http("trusted_issuer")
    published = PublishedKeys(client_http)
    return ForeignAssertions(
        issuer=shared.issuer,
        token_endpoint=shared.issuer.rstrip("/") + TOKEN_ENDPOINT,
        registry=shared.registry,
        keys=IssuerKeys(published=published, http=client_http.free),
        users=users,
        stores=shared.stores,
        clock_skew=shared.configuration.server.clock_skew,
        emit=shared.emit,
    )


class CibaParts:
    """The parts of authentication that a client begins and the user confirms elsewhere (CIBA Core)."""

    def __init__(self, parts: Parts) -> None:
        """Raise CannotServe if the operator's notifier cannot be made."""
        shared, settings = parts.shared, parts.shared.configuration.ciba
        self.messages = build_ciba_messages(parts)
        self.deliveries = build_ciba_deliveries(parts, self.messages)
        self.notifier = SafeNotifier(open_notifier(settings.notifier, self.messages), shared.emit)
        hints = Hints(
            id_tokens=parts.tokens.id_tokens,
            users=parts.sign_in.users,
            sessions=parts.records.sessions,
            keys=parts.keys.of_clients,
            clock_skew=shared.configuration.server.clock_skew,
        )
        self.requests = CibaRequests(
            polling=parts.tokens.polling,
            messages=self.messages,
            hints=hints,
            per_user=shared.rate_limit("ciba-user", PER_MINUTE),
            interval=settings.interval,
        )
        local = parts.sign_in.local
        self.reader = CibaReader(
            reader=parts.flow.reader,
            hints=hints,
            user_codes=UserCodes(
                passwords=local.passwords, turns=local.turns, throttle=local.throttle
            ),
            settings=settings,
        )


class Parts:
    """All parts that endpoints are built from, in groups, each built from the groups before it."""

    def __init__(self, shared: Shared) -> None:
        """Raise CannotServe or KeyFileError if a class or file of the operator is wrong."""
        self.shared = shared
        self.keys = KeyParts(shared)
        self.clients = ClientParts(shared, self.keys)
        self.records = UserRecords(shared)
        self.sign_in = SignInParts(shared, self.keys)
        self.factors = FactorParts(shared, self.sign_in.users)
        self.tokens = TokenParts(shared, self.keys, self.clients, self.sign_in.users)
        clients, sessions = self.clients.directory, self.records.sessions
        self.user_logout = UserLogout(issuer=shared.issuer, clients=clients, sessions=sessions)
        self.parked_logouts = build_parking(shared, "logout", LOGOUT_PARAMETERS)
        self.flow = build_flow(self)
        self.logout_deliveries = build_logout_deliveries(self)
        self.ciba = CibaParts(self)


def build_flow(parts: Parts) -> AuthorizeFlow:
    """Build what answers authorization requests."""
    shared, tokens = parts.shared, parts.tokens
    request_objects = RequestObjects(
        issuer=shared.issuer,
        keys=parts.keys.of_clients,
        uris=RequestUris(shared.client_http("request_object")),
        clock_skew=shared.configuration.server.clock_skew,
        signature_required=shared.configuration.require_signed_request_object,
    )
    return AuthorizeFlow(
        reader=RequestReader(
            issuer=shared.issuer,
            clients=parts.clients.directory,
            request_objects=request_objects,
            id_tokens=tokens.id_tokens,
            client_keys=parts.keys.of_clients,
            push_required=shared.configuration.require_pushed_authorization_requests,
        ),
        registry=shared.registry,
        steps=BUILTIN_STEPS,
        parking=build_parking(shared, "authorize", KEPT),
        pushed=build_parking(shared, "pushed", KEPT),
        consents=parts.records.consents,
        devices=build_device_requests(
            shared, tokens, build_parking(shared, "authorize", KEPT_OF_DEVICES)
        ),
        answering=Answering(
            access_tokens=tokens.access_tokens, id_tokens=tokens.id_tokens, emit=shared.emit
        ),
        second_factors=parts.factors.second_factors,
        enrollable={method.name: method.amr for method in parts.factors.changes.methods},
        emit=shared.emit,
    )


def build_logout_deliveries(parts: Parts) -> Deliveries[LogoutDelivery]:
    """Build back-channel logout."""
    shared, stores = parts.shared, parts.shared.stores
    queue = _build_outbox(
        shared, stores.logout_queue, stores.logout_deliveries, stores.logout_leases
    )
    attempt = BackChannel(
        queue=queue,
        id_tokens=parts.tokens.id_tokens,
        http=shared.client_http("logout"),
        emit=shared.emit,
    ).attempt
    spans = shared.spans
    return Deliveries(
        queue=queue,
        attempt=spans.trace_deliveries("backchannel_logout", attempt) if spans else attempt,
        find_uri=lambda _, client: client.backchannel_logout_uri if client else None,
        clients=parts.clients.directory,
        wake=parts.records.sessions.ended,
    )


def _build_outbox(
    shared: Shared, queue: Queue, deliveries: Records[D], leases: Records[bool]
) -> Outbox[D]:
    """Build the queue of deliveries of one kind; each attempt may take as long as any request to others."""
    lease = ceil(shared.configuration.outgoing.timeout) + LEASE_MARGIN
    return Outbox(kv=shared.kv, queue=queue, deliveries=deliveries, leases=leases, lease=lease)


def build_parking(shared: Shared, purpose: str, parameters: frozenset[str]) -> Parking:
    """Build what keeps requests while users sign in, within the limit of a network."""
    per_minute = shared.configuration.limits.parked_requests_per_minute
    return Parking(
        stores=shared.stores,
        purpose=purpose,
        parameters=parameters,
        rate_limit=shared.rate_limit("parked", per_minute),
    )


def build_ciba_messages(parts: Parts) -> Messages:
    """Build what sends pings and notes about CIBA requests."""
    shared, stores = parts.shared, parts.shared.stores
    return Messages(
        issuer=shared.issuer,
        stores=stores,
        queue=_build_outbox(shared, stores.ciba_queue, stores.ciba_deliveries, stores.ciba_leases),
        clients=parts.clients.directory,
        ring=parts.keys.ring,
        seal=Seal(shared.configuration.signing.encryption_key),
        http=shared.client_http("ciba"),
        webhook=shared.configuration.ciba.webhook,
        wake=asyncio.Event(),
        emit=shared.emit,
    )


def build_ciba_deliveries(parts: Parts, messages: Messages) -> Deliveries[BackchannelDelivery]:
    """Build the outbox of those."""
    spans, attempt = parts.shared.spans, messages.attempt
    return Deliveries(
        queue=messages.queue,
        attempt=spans.trace_deliveries("ciba_message", attempt) if spans else attempt,
        find_uri=messages.find_uri,
        clients=parts.clients.directory,
        wake=messages.wake,
    )
