"""Builds the parts that know neither clients nor users: events, metrics, registry, store, HTTP clients."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING

from service.clients.client_http import ClientHttp
from service.config.configuration import Configuration
from service.config.reload import ReloadableRegistry
from service.model.events import Emit
from service.model.outgoing import HttpClient
from service.observe.event_log import EventLog
from service.observe.fan_out import FanOut, both
from service.observe.metrics import Metrics
from service.outgoing.addresses import AddressPolicy
from service.outgoing.guarded import GuardedHttp
from service.outgoing.http_client import OutgoingHttp, TimedHttp
from service.start_rules import START_RULES
from service.store.keyvalue import KeyValue, open_store
from service.store.memory import StoreMemory
from service.store.rate_limit import RateLimit
from service.store.stores import Stores

if TYPE_CHECKING:
    from service.observe.spans import Spans


def clock() -> int:
    """Return the present time in whole seconds since the epoch."""
    return int(time())


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The parts that all other parts are built on."""

    configuration: Configuration
    now: Callable[[], int]
    metrics: Metrics
    emit: Emit
    timed: Emit
    """Takes durations, at once and where they were measured."""
    spans: Spans | None
    registry: ReloadableRegistry
    kv: KeyValue
    stores: Stores
    store_memory: StoreMemory
    outgoing: OutgoingHttp
    guarded: GuardedHttp

    @property
    def issuer(self) -> str:
        return self.configuration.issuer

    @property
    def registration_is_on(self) -> bool:
        """Whether clients may register themselves (RFC 7591)."""
        return self.configuration.registration.enabled

    def http_for(self, purpose: str, http: HttpClient) -> HttpClient:
        """Return the HTTP client with metrics and spans; the purpose is a label of metrics."""
        traced = http if self.spans is None else self.spans.http(purpose, http)
        return TimedHttp(purpose, traced, self.timed)

    def client_http(self, purpose: str) -> ClientHttp:
        """Return the HTTP clients for URLs of clients."""
        return ClientHttp(
            free=self.http_for(purpose, self.outgoing), guarded=self.http_for(purpose, self.guarded)
        )

    def rate_limit(self, name: str, per_minute: int | None) -> RateLimit:
        """Return a limit for each caller, counted under this name; no limit if None."""
        prefix = self.configuration.store.key_prefix
        return RateLimit(kv=self.kv, prefix=prefix, name=name, per_minute=per_minute, now=self.now)

    async def close(self) -> None:
        """Close all connections to other servers."""
        await self.outgoing.close()
        await self.guarded.close()
        await self.kv.close()


def build_shared(
    configuration: Configuration,
    *listeners: Emit,
    environ: Mapping[str, str] = os.environ,
    spans: Spans | None = None,
) -> Shared:
    """Build the shared parts; nothing is connected yet."""
    metrics = Metrics(has_workers=configuration.server.workers > 1)
    emit = FanOut(EventLog.on_standard_error(environ), metrics, *listeners)
    timed = metrics.timed if spans is None else both(spans.record_duration, metrics.timed)
    store, outgoing = configuration.store, configuration.outgoing
    kv = open_store(
        store.url,
        timeout=store.timeout,
        wait_for_replicas=store.wait_for_replicas,
        timed=timed,
    )
    timeout, ca_file = outgoing.timeout, outgoing.ca_file
    policy = AddressPolicy(outgoing.allowed_networks)
    return Shared(
        configuration=configuration,
        now=clock,
        metrics=metrics,
        emit=emit,
        timed=timed,
        spans=spans,
        registry=ReloadableRegistry(configuration, environ=environ, emit=emit, rules=START_RULES),
        kv=kv,
        stores=Stores(kv, prefix=store.key_prefix),
        store_memory=StoreMemory(kv=kv),
        outgoing=OutgoingHttp(timeout=timeout, ca_file=ca_file, permits=None),
        guarded=GuardedHttp(timeout=timeout, ca_file=ca_file, policy=policy),
    )
