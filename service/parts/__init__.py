"""All parts of the service, and those that know users: records, sign-in, authorization requests, logout."""

from __future__ import annotations

import asyncio
from math import ceil

from service.authorize.answer import Answering
from service.authorize.checks import RequestReader
from service.authorize.flow import AuthorizeFlow
from service.authorize.parameters import KEPT
from service.authorize.parking import Parking
from service.authorize.request_object import RequestObjects
from service.authorize.request_uri import RequestUris
from service.authorize.steps import BUILTIN_STEPS
from service.clients.issuer_keys import IssuerKeys
from service.clients.published_keys import PublishedKeys
from service.endpoints.token import PATH as TOKEN_ENDPOINT
from service.identity.access import Authorizations, Consents
from service.identity.assertions import ForeignAssertions
from service.identity.passwords import FairTurns, Passwords
from service.identity.providers.provider import ProviderDirectory
from service.identity.providers.sign_in import CALLBACK, ProviderSignIn
from service.identity.sessions import Sessions
from service.identity.sign_in import LocalSignIn, Throttle
from service.identity.sign_ins import PartialSignIns
from service.identity.users import Subjects, open_users
from service.logout.back_channel import BackChannel
from service.logout.delivering import LEASE_MARGIN, LogoutDeliveries, LogoutQueue
from service.logout.request import PARAMETERS as LOGOUT_PARAMETERS
from service.logout.request import UserLogout
from service.model.user import UserStore
from service.parts.clients import ClientParts, KeyParts, TokenParts
from service.parts.shared import Shared


class UserRecords:
    """The records of users in the store, which can be read without the users themselves."""

    def __init__(self, shared: Shared) -> None:
        stores, emit = shared.stores, shared.emit
        session = shared.configuration.session
        self.sessions = Sessions(
            stores=stores,
            lifetime=session.lifetime,
            max_lifetime=session.max_lifetime,
            ended=asyncio.Event(),
            emit=emit,
        )
        self.partial_sign_ins = PartialSignIns(stores)
        self.consents = Consents(stores=stores, emit=emit)
        self.authorizations = Authorizations(stores=stores, emit=emit)


class SignInParts:
    """The users, and the ways to sign them in: by password and at identity providers."""

    def __init__(self, shared: Shared) -> None:
        """Raise CannotServe if the operator's user store cannot be made."""
        limits = shared.configuration.limits
        self.users = open_users(shared.registry)
        self.subjects = Subjects(users=self.users, registry=shared.registry)
        self.local = LocalSignIn(
            users=self.users,
            passwords=Passwords(shared.registry),
            turns=FairTurns(),
            throttle=Throttle(kv=shared.kv, prefix=shared.prefix, limits=limits),
            emit=shared.emit,
        )
        self.assertions = build_foreign_assertions(shared, self.users)
        self.providers = ProviderSignIn(
            redirect_uri=shared.issuer.rstrip("/") + CALLBACK,
            registry=shared.registry,
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


class Parts:
    """All parts that endpoints are built from, in groups, each built from the groups before it."""

    def __init__(self, shared: Shared) -> None:
        """Raise CannotServe or KeyFileError if a class or file of the operator is wrong."""
        self.shared = shared
        self.keys = KeyParts(shared)
        self.clients = ClientParts(shared, self.keys)
        self.records = UserRecords(shared)
        self.sign_in = SignInParts(shared)
        self.tokens = TokenParts(shared, self.keys, self.clients, self.sign_in.users)
        clients, sessions = self.clients.directory, self.records.sessions
        self.user_logout = UserLogout(issuer=shared.issuer, clients=clients, sessions=sessions)
        self.parked_logouts = build_parking(shared, "logout", LOGOUT_PARAMETERS)
        self.flow = build_flow(self)
        self.logout_deliveries = build_logout_deliveries(self)


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
        answering=Answering(
            access_tokens=tokens.access_tokens, id_tokens=tokens.id_tokens, emit=shared.emit
        ),
        emit=shared.emit,
    )


def build_logout_deliveries(parts: Parts) -> LogoutDeliveries:
    """Build back-channel logout."""
    shared = parts.shared
    lease = ceil(shared.configuration.outgoing.timeout) + LEASE_MARGIN
    queue = LogoutQueue(stores=shared.stores, lease=lease)
    attempt = BackChannel(
        queue=queue,
        id_tokens=parts.tokens.id_tokens,
        http=shared.client_http("logout"),
        emit=shared.emit,
    ).attempt
    return LogoutDeliveries(
        queue=queue,
        attempt=attempt if shared.spans is None else shared.spans.trace_deliveries(attempt),
        clients=parts.clients.directory,
        wake=parts.records.sessions.ended,
    )


def build_parking(shared: Shared, purpose: str, parameters: frozenset[str]) -> Parking:
    """Build what keeps requests while users sign in, within the limit of a network."""
    per_minute = shared.configuration.limits.parked_requests_per_minute
    return Parking(
        stores=shared.stores,
        purpose=purpose,
        parameters=parameters,
        rate_limit=shared.rate_limit("parked", per_minute),
    )
