"""The parts that all features and commands share: events, metrics, registry, store, HTTP clients, users and their records."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from service.admin.ending import Ending
from service.clock import clock
from service.config.configuration import Configuration
from service.config.reload import ReloadableRegistry
from service.config.schema.store import Store
from service.events.event import Emit, Event
from service.events.timings import EmitAtOnce, EmitTiming, RequestAnswered, ignore_timing
from service.identity.access import Authorizations, Consents
from service.identity.ending import UserEnding
from service.identity.factors.guesses import Guesses
from service.identity.factors.stored import EnrolledFactors, StoredFactors
from service.identity.sessions import Sessions
from service.identity.sources import Tools, open_users
from service.identity.throttle import FACTORS, Throttle
from service.identity.users import Directory
from service.keys.sealing import Seal
from service.model.outgoing import ClientCertificate, ClientHttp, HttpClient
from service.observe.event_log import EventLog, FanOut
from service.outbox.queue import D
from service.outgoing.around import LateHttp, TimedHttp
from service.protocol.path_aliases import PathAliases
from service.start.load import load_to_serve
from service.store.keyvalue import KeyValue
from service.store.memory import StoreMemory
from service.store.opening import open_credentials, open_store
from service.store.rate_limit import RateLimit
from service.store.room import Room, network_limit
from service.store.stores import Stores
from service.store.tracking import Tracking
from service.webhooks.queueing import EventQueue

if TYPE_CHECKING:
    from service.observe.metrics import Metrics
    from service.observe.spans import Spans
    from service.outgoing.http_client import OutgoingHttp


class Shared:
    """The parts that all others are built on; nothing is connected yet."""

    def __init__(
        self,
        configuration: Configuration,
        *listeners: Emit,
        environ: Mapping[str, str] = os.environ,
        spans: Spans | None = None,
        read: Callable[[], Configuration] | None = None,
        counted: bool = True,
    ) -> None:
        """Take what reads the configuration again at a reload; None: this process does, as it did at its start.

        Nothing is `counted` for a command, which nobody asks for metrics.
        """
        self.configuration = configuration
        self.issuer = configuration.issuer
        self.verify_only = configuration.signing.verify_only
        """The keys of the server before, as the last reload has read them."""
        self.registration_is_on = configuration.registration.enabled
        self.documents_are_on = configuration.client_id_metadata.enabled
        self.has_dynamic_clients = self.registration_is_on or self.documents_are_on
        """Whether clients need no entry in the configuration."""
        self.spans = spans
        timed = self.metrics.timed.note if counted else ignore_timing
        self.timed = timed if spans is None else spans.record_durations(timed)
        self.kv = _open_kv(configuration.store, self.timed)
        self.prefix = configuration.store.key_prefix
        self.stores = Stores(self.kv, prefix=self.prefix)
        self.event_queue = self._open_event_queue()
        queueing = () if self.event_queue is None else (self.event_queue.note,)
        counting = (self.metrics.count,) if counted else ()
        event_log = EventLog.on_standard_error(environ)
        self.emit = FanOut(event_log.note, *counting, *queueing, *listeners).emit
        wants_all = self.event_queue is not None and self.event_queue.wants_answers_at_once
        self._listeners = (*queueing, *listeners) if wants_all else listeners
        read = read or partial(load_to_serve, configuration.file, environ)
        self.registry = ReloadableRegistry(configuration, read=read, emit=self.emit)
        self.store_memory = StoreMemory(kv=self.kv)
        limits = configuration.limits
        self.room = Room(
            parked=self.rate_limit("parked", network_limit(limits)),
            limits=limits,
            memory=self.store_memory,
        )
        self._opened: list[LateHttp] = []

    @property
    def base_urls(self) -> tuple[str, ...]:
        """The URLs at which clients find endpoints: the issuer's, and that of `mtls_endpoint_aliases` (RFC 8705 §5)."""
        urls = (self.issuer, self.configuration.server.mtls_base_url)
        return tuple([url.rstrip("/") for url in urls if url is not None])

    @cached_property
    def aliases(self) -> PathAliases:
        """The paths of the server before."""
        return PathAliases.of(self.configuration.path_aliases)

    @cached_property
    def metrics(self) -> Metrics:
        """The metrics of this process; prometheus_client is imported with them."""
        from service.observe.metrics import Metrics  # noqa: PLC0415 - which commands do without

        return Metrics(has_workers=self.configuration.server.workers > 1)

    @cached_property
    def emit_at_once(self) -> EmitAtOnce:
        """Counts an answered request, and tells all listeners but the log."""
        return _emit_at_once(self.metrics.count_at_once, self._listeners)

    @cached_property
    def seal(self) -> Seal:
        """Encrypts for the store by `signing.encryption_key`; without a key each seal makes its own, so all parts have this one."""
        return Seal(self.configuration.signing.encryption_key)

    @cached_property
    def users(self) -> Directory:
        """The users, wherever they come from; raise CannotServe if their system cannot be opened."""
        tools = Tools(
            registry=self.registry,
            open_http=self.http_of_users,
            stores=self.stores,
            seal=self.seal,
            timed=self.timed,
        )
        return open_users(self.configuration.users, tools)

    @cached_property
    def factors(self) -> EnrolledFactors:
        """The second factors of users, which are in the store unless the users' own system keeps them."""
        return EnrolledFactors(self.users.factor_store or StoredFactors(self.stores, self.seal))

    @cached_property
    def guesses(self) -> Guesses:
        """The counters of wrong codes."""
        lockout = self.configuration.limits.lockout
        return Guesses(kv=self.kv, prefix=self.prefix, lockout=lockout)

    @cached_property
    def sessions(self) -> Sessions:
        settings = self.configuration.session
        return Sessions(
            stores=self.stores,
            lifetime=settings.lifetime,
            max_lifetime=settings.max_lifetime,
            ended=asyncio.Event(),
            emit=self.emit,
        )

    def find_longest_access(self) -> int:
        """Return the seconds for which a session may last, or a JWT of a trusted issuer or of the server before, which have no record here."""
        ends = [entry.until - clock() for entry in self.verify_only]
        issuers = self.registry.current.trusted_issuers.values()
        foreign = [issuer.max_lifetime + self.configuration.server.clock_skew for issuer in issuers]
        return max([self.configuration.session.max_lifetime, *ends, *foreign])

    @cached_property
    def consents(self) -> Consents:
        longest = self.find_longest_access
        return Consents(stores=self.stores, longest_access=longest, emit=self.emit)

    @cached_property
    def authorizations(self) -> Authorizations:
        longest = self.find_longest_access
        return Authorizations(stores=self.stores, longest_access=longest, emit=self.emit)

    @cached_property
    def user_ending(self) -> UserEnding:
        """Ends all that a user has."""
        return UserEnding(
            stores=self.stores,
            sessions=self.sessions,
            authorizations=self.authorizations,
            consents=self.consents,
            longest_access=self.find_longest_access,
        )

    @cached_property
    def ending(self) -> Ending:
        """Ends what users and clients have, for operators."""
        throttle = partial(
            Throttle, kv=self.kv, prefix=self.prefix, limits=self.configuration.limits
        )
        return Ending(
            stores=self.stores,
            users=self.users,
            sessions=self.sessions,
            consents=self.consents,
            authorizations=self.authorizations,
            factors=self.factors,
            guesses=self.guesses,
            password_throttle=throttle(),
            factor_throttle=throttle(name=FACTORS),
            emit=self.emit,
        )

    @cached_property
    def outgoing(self) -> HttpClient:
        """The HTTP client for URLs of the operator; aiohttp is imported for its first request."""
        return self._open()

    @cached_property
    def guarded(self) -> HttpClient:
        """The HTTP client for URLs of clients that registered themselves."""
        return self._open(guarded=True)

    def _open_event_queue(self) -> EventQueue | None:
        """Return what queues events for webhooks; None without webhooks."""
        webhooks = self.configuration.events.webhooks
        if not webhooks:
            return None
        queue = EventQueue(
            issuer=self.issuer,
            stores=self.stores,
            webhooks=webhooks,
            emit=lambda event: self.emit(event),  # noqa: PLW0108 - it is made later
        )
        self.kv.write_with_events = queue.write
        return queue

    def trace_deliveries(
        self, name: str, attempt: Callable[[D], Awaitable[None]]
    ) -> Callable[[D], Awaitable[None]]:
        """Return the attempt with a span of this name, where spans are exported."""
        return attempt if self.spans is None else self.spans.trace_deliveries(name, attempt)

    def http_for(self, purpose: str, http: HttpClient) -> HttpClient:
        """Return the HTTP client with metrics and spans; the purpose is a label of metrics."""
        traced = http if self.spans is None else self.spans.http(purpose, http)
        return TimedHttp(purpose, traced, self.timed)

    def client_http(self, purpose: str) -> ClientHttp:
        """Return the HTTP clients for URLs of clients."""
        return ClientHttp(
            free=self.http_for(purpose, self.outgoing), guarded=self.http_for(purpose, self.guarded)
        )

    def document_http(self, purpose: str, *, max_body: int) -> HttpClient:
        """Return a guarded HTTP client for URLs that requests name, which reads no more than so many bytes."""
        http = self._open(guarded=True, max_body=max_body)
        return self.http_for(purpose, http)

    def webhook_http(self) -> HttpClient:
        """Return the guarded HTTP client for webhooks."""
        return self.http_for("webhook", self._open(guarded=True))

    def http_of_users(self, certificate: ClientCertificate | None) -> HttpClient:
        """Return the HTTP client for `users.http`, with connections of its own, which show this certificate.

        It has spans, and the caller has metrics.
        """
        kept = self.configuration.users.max_concurrent
        http = self._open(certificate=certificate, kept=kept)
        return http if self.spans is None else self.spans.http("users", http)

    def http_trusting(self, purpose: str, ca_file: Path | None) -> HttpClient:
        """Return an HTTP client for URLs that the operator names, which may be private ones, with these authorities."""
        http = self.outgoing if ca_file is None else self._open(ca_file=ca_file)
        return self.http_for(purpose, http)

    def _open(
        self,
        *,
        guarded: bool = False,
        ca_file: Path | None = None,
        certificate: ClientCertificate | None = None,
        kept: int = 0,
        max_body: int | None = None,
    ) -> LateHttp:
        settings = self.configuration.outgoing

        def make() -> OutgoingHttp:
            from service.outgoing import guard, http_client  # noqa: PLC0415 - aiohttp, which most commands do without

            return http_client.OutgoingHttp(
                timeout=settings.timeout,
                ca_file=ca_file or settings.ca_file,
                policy=guard.AddressPolicy(settings.allowed_networks) if guarded else None,
                certificate=certificate,
                kept=kept,
                max_body=max_body or http_client.MAX_BODY,
            )

        http = LateHttp(make)
        self._opened.append(http)
        return http

    def rate_limit(self, name: str, per_minute: int | None) -> RateLimit:
        """Return a limit for each caller, counted under this name; no limit if None."""
        return RateLimit(kv=self.kv, prefix=self.prefix, name=name, per_minute=per_minute)

    async def close(self) -> None:
        """Close all connections to other servers."""
        if "users" in vars(self):
            await self.users.close()
        for http in self._opened:
            await http.close()
        if self.event_queue is not None:
            await self.event_queue.close()
        await self.kv.close()


def _emit_at_once(count: EmitAtOnce, listeners: tuple[Emit, ...]) -> EmitAtOnce:
    """Return what counts, and tells the other listeners; the log has no line about such answers."""
    if not listeners:
        return count
    emit = FanOut(*listeners).emit

    def emit_both(event: Event | None, labels: tuple[str, str, int], seconds: float) -> None:
        count(event, labels, seconds)
        if event is not None:
            emit(event)
        endpoint, method, status = labels
        emit(RequestAnswered(method=method, endpoint=endpoint, status=status, seconds=seconds))

    return emit_both


def _open_kv(store: Store, timed: EmitTiming) -> KeyValue:
    """Return the store that the configuration names."""
    return open_store(
        store.url,
        password=store.password,
        credentials=open_credentials(store),
        timeout=store.timeout,
        wait_for_replicas=store.wait_for_replicas,
        tracking=Tracking(store.tracking_entries) if store.tracks else None,
        timed=timed,
    )
