"""Metrics of state that is read when it is shown: registry, keys, queue and store."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

NAMESPACE = "token_service"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings(Collector):
    """The state of other parts, as this process sees it; `collect` shows what is the same in all processes."""

    grant_types: Callable[[], Container[object]]
    """All that are served."""
    store_seconds_away: Callable[[], float]
    store_failures: Callable[[], int]
    store_waiting: Callable[[], int]
    circuit_open: Callable[[], bool]
    registry_generation: Callable[[], str]
    signing_keys: Callable[[], Mapping[str, str]]
    """The key id that signs now, by algorithm."""
    signing_since: Callable[[], Mapping[str, int]]
    """When it began to sign, by algorithm, as far as that is known."""
    logout_deliveries: Callable[[], int]
    store_memory: Callable[[], tuple[int | None, int]]
    """Bytes that Redis uses, as far as that is known, and may use, 0 for no limit."""
    now: Callable[[], int]

    def collect(self) -> Iterator[Metric]:
        """Read everything anew."""
        yield _gauge(
            "logout_deliveries",
            "Clients that wait in the store to be told of an ended session.",
            self.logout_deliveries(),
        )
        registry = _gauge("registry_info", "The registry in force.", labels=("generation",))
        registry.add_metric((self.registry_generation(),), 1)
        yield registry
        yield from self._keys()
        used, limit = self.store_memory()
        if used is not None:
            yield _gauge("store_memory_bytes", "Memory that Redis uses.", used)
            yield _gauge(
                "store_memory_limit_bytes",
                "Memory that Redis may use; 0 where it has no limit.",
                limit,
            )

    def _keys(self) -> Iterator[Metric]:
        labels = ("alg", "kid")
        keys = _gauge("signing_key_info", "The keys that sign now.", labels=labels)
        ages = _gauge(
            "signing_key_age_seconds",
            "For how long the keys that sign now have signed.",
            labels=labels,
        )
        signing, since, now = self.signing_keys(), self.signing_since(), self.now()
        for alg, kid in signing.items():
            keys.add_metric((alg, kid), 1)
            if alg in since:
                ages.add_metric((alg, kid), max(0, now - since[alg]))
        yield keys
        yield ages


def _gauge(
    name: str, text: str, value: float | None = None, labels: tuple[str, ...] | None = None
) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"{NAMESPACE}_{name}", text, value, labels)


class StoreGauges:
    """Metrics of the store that differ between processes; shown is their sum, or the worst."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(Gauge, namespace=NAMESPACE, registry=registry)
        worst = partial(gauge, multiprocess_mode="livemax")
        self._away = worst(
            "store_away_seconds", "For how long the store has not answered; 0 while it does."
        )
        self._circuit = worst(
            "circuit_open", "1 while the store is not asked, because it has not answered lately."
        )
        waiting = "Questions to the store that have no answer yet."
        self._waiting = gauge("store_waiting", waiting, multiprocess_mode="livesum")
        failed = "Calls of the store that failed."
        self._failures = Counter("store_failures", failed, namespace=NAMESPACE, registry=registry)
        self._failures_counted = 0

    def update(self, readings: Readings) -> None:
        """Write down the present state, where the process that answers a scrape reads it."""
        self._away.set(readings.store_seconds_away())
        self._waiting.set(readings.store_waiting())
        self._circuit.set(readings.circuit_open())
        failures = readings.store_failures()
        self._failures.inc(failures - self._failures_counted)
        self._failures_counted = failures


class ConnectionMetrics:
    """Counts connections as they open and close, and those that were not closed by their clients."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(Gauge, namespace=NAMESPACE, registry=registry)
        opened = gauge("connections", "Open connections.", multiprocess_mode="livesum")
        text = "Connections that this service closed to protect itself."
        counter = partial(Counter, namespace=NAMESPACE, registry=registry)
        dropped = counter("connections_dropped", text, ("reason",))
        self.count_open, self.count_close = opened.inc, opened.dec
        self.count_drop: Callable[[str], None] = lambda reason: dropped.labels(reason).inc()
