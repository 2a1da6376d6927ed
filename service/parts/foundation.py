"""What every other part stands on: settings, events, registry, store, keys, ways out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from math import ceil
from time import time
from typing import TYPE_CHECKING

from service.clients.algorithms import ClientAlgorithms
from service.clients.http import ClientHttp
from service.clients.keys import ClientKeys
from service.clients.published_keys import PublishedKeys
from service.clients.registration.metadata import REGISTERED_TOKEN_LIFETIME
from service.config.configuration import Configuration
from service.config.problem import CannotServe, Finding
from service.config.reload import ReloadableRegistry
from service.grants import Grants
from service.keys.key_files import KeyFileError
from service.keys.key_source import (
    KeySource,
    encryption_algorithms,
    key_source,
)
from service.keys.keyring import KeyRing
from service.logout.queue import LEASE_MARGIN, LogoutQueue
from service.model.events import Emit
from service.model.outgoing import HttpClient
from service.model.registry import Registry
from service.observe.event_log import EventLog
from service.observe.fan_out import FanOut, both
from service.observe.metrics import Metrics
from service.observe.process_metrics import ProcessMetrics
from service.observe.readings import Readings
from service.observe.store_gauges import StoreState
from service.outgoing.addresses import AddressPolicy
from service.outgoing.guarded import GuardedOutgoing
from service.outgoing.http_client import Outgoing
from service.outgoing.outgoing_for import OutgoingFor
from service.start_rules import START_RULES
from service.store.engine.connection import open_store
from service.store.keyvalue import KeyValue
from service.store.memory import StoreMemory
from service.store.stores import Stores

if TYPE_CHECKING:
    from service.observe.spans import Spans


def clock() -> int:
    """Now, in whole seconds since the epoch."""
    return int(time())


class Foundation(ABC):
    """The parts that know of no person and no token."""

    def __init__(
        self,
        configuration: Configuration,
        environ: Mapping[str, str],
        *listeners: Emit,
        spans: Spans | None = None,
    ) -> None:
        """Take the settings, the environment for reloads, who else hears events, and what traces."""
        self.configuration = configuration
        self.issuer = configuration.issuer
        self.prefix = configuration.store.key_prefix
        self.now: Callable[[], int] = clock
        self._environ = environ
        self._listeners = listeners
        self.spans = spans

    @abstractmethod
    def every_grant(self) -> Grants:
        """What metrics name and a reload prepares; it stands above everything here."""

    @cached_property
    def emit(self) -> Emit:
        return FanOut(EventLog.on_standard_error(self._environ), self.metrics, *self._listeners)

    @cached_property
    def metrics(self) -> Metrics:
        return Metrics(
            grant_types=lambda: self.every_grant().types,
            store=StoreState(
                seconds_away=lambda: self.kv.seconds_away,
                failures=lambda: self.kv.failures,
                waiting=lambda: self.kv.waiting,
                circuit_open=lambda: self.kv.circuit_open,
            ),
            readings=Readings(
                registry_generation=lambda: self.registry.current.generation,
                signing_keys=lambda: self.keys.signing_kids,
                signing_since=lambda: self.keys.signing_since,
                logout_deliveries=lambda: self.logout_queue.waiting,
                store_memory=lambda: (self.store_memory.used, self.store_memory.limit),
                now=self.now,
            ),
            processes=ProcessMetrics(has_workers=self.configuration.server.workers > 1),
        )

    @cached_property
    def timed(self) -> Emit:
        """Who hears how long things take, at once and where they happen."""
        spans, metrics = self.spans, self.metrics.timed
        return metrics if spans is None else both(spans.timed, metrics)

    @cached_property
    def registry(self) -> ReloadableRegistry:
        return ReloadableRegistry(
            self.configuration,
            environ=self._environ,
            emit=self.emit,
            rules=START_RULES,
            prepare=self._prepare,
        )

    def _prepare(self, registry: Registry) -> None:
        self.every_grant().prepare(registry)
        try:
            self.key_source.read_again()
        except KeyFileError as error:
            raise CannotServe(Finding(("signing", "keys"), str(error))) from error

    @cached_property
    def kv(self) -> KeyValue:
        store = self.configuration.store
        return open_store(
            store.url,
            timeout=store.timeout,
            wait_for_replicas=store.wait_for_replicas,
            timed=self.timed,
        )

    @cached_property
    def store_memory(self) -> StoreMemory:
        return StoreMemory(kv=self.kv)

    @cached_property
    def stores(self) -> Stores:
        return Stores.on(self.kv, prefix=self.prefix)

    @cached_property
    def key_source(self) -> KeySource:
        return key_source(
            self.configuration.signing,
            kv=self.kv,
            prefix=self.prefix,
            longest_token=self._longest_token,
            encryption=self._encryption_algorithms,
            now=self.now,
            emit=self.emit,
            timed=self.timed,
        )

    def _longest_token(self) -> int:
        longest = self.registry.current.longest_token
        registration = self.configuration.registration.enabled
        return max(longest, REGISTERED_TOKEN_LIFETIME) if registration else longest

    def _encryption_algorithms(self) -> tuple[str, ...]:
        clients = self.registry.current.clients.values()
        registration = self.configuration.registration.enabled
        return encryption_algorithms(clients, registration=registration)

    @cached_property
    def keys(self) -> KeyRing:
        return self.key_source.ring

    @cached_property
    def outgoing(self) -> Outgoing:
        outgoing = self.configuration.outgoing
        return Outgoing(timeout=outgoing.timeout, ca_file=outgoing.ca_file, permits=None)

    @cached_property
    def guarded(self) -> GuardedOutgoing:
        outgoing = self.configuration.outgoing
        policy = AddressPolicy(outgoing.allowed_networks)
        return GuardedOutgoing(timeout=outgoing.timeout, ca_file=outgoing.ca_file, policy=policy)

    @cached_property
    def logout_queue(self) -> LogoutQueue:
        lease = ceil(self.configuration.outgoing.timeout) + LEASE_MARGIN
        return LogoutQueue(stores=self.stores, lease=lease, now=self.now)

    def client_http(self, purpose: str) -> ClientHttp:
        """The ways to a client's URLs; the purpose is a label of metrics."""
        return ClientHttp(
            free=self.http_for(purpose, self.outgoing), guarded=self.http_for(purpose, self.guarded)
        )

    def http_for(self, purpose: str, http: HttpClient) -> HttpClient:
        """The same way out, observed."""
        traced = http if self.spans is None else self.spans.http(purpose, http)
        return OutgoingFor(purpose, traced, self.timed)

    @cached_property
    def client_algorithms(self) -> ClientAlgorithms:
        registration = self.configuration.registration.enabled
        return ClientAlgorithms(ring=self.keys, registry=self.registry, registration=registration)

    @cached_property
    def client_keys(self) -> ClientKeys:
        return ClientKeys(
            ring=self.keys,
            published=PublishedKeys(now=self.now),
            http=self.client_http("client_keys"),
            now=self.now,
        )
