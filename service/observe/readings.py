"""Metrics of state: registry, keys, queue, store and connections, and the processes of this replica."""

from __future__ import annotations

import os
import platform
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from service.clock import clock
from service.distribution import VERSION, find_commit
from service.grants import Grants
from service.identity.users import Directory
from service.keys.keyring import KeyRing
from service.model.registry import LiveRegistry
from service.model.session import LogoutDelivery
from service.model.webhook import WebhookDelivery
from service.outbox.queue import Outbox
from service.store.keyvalue import KeyValue
from service.store.memory import StoreMemory

NAMESPACE = "token_service"

LabelValues = TypeVar("LabelValues", bound=tuple[str, ...])

CPU = "process_cpu_seconds"
COMBINED: Mapping[str, Callable[[Iterable[float]], float]] = {
    CPU: sum,
    "process_resident_memory_bytes": sum,
    "process_virtual_memory_bytes": sum,
    "process_start_time_seconds": min,
    "process_open_fds": max,
    "process_max_fds": min,
}
"""How the values of several processes become one. The limit of open files counts for each process."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Readings(Collector):
    """The state of other parts, as this process sees it; `collect` shows what is the same in all processes."""

    kv: KeyValue
    memory: StoreMemory
    registry: LiveRegistry
    users: Directory
    ring: KeyRing
    grants: Grants
    logouts: Outbox[LogoutDelivery]
    webhooks: Outbox[WebhookDelivery]

    def collect(self) -> Iterator[Metric]:
        """Read everything anew."""
        text = "Clients that wait in the store to be told of an ended session."
        yield _gauge("logout_deliveries", text, {(): self.logouts.waiting})
        text = "Subjects with events that wait in the store for a webhook."
        yield _gauge("webhook_subjects_waiting", text, {(): self.webhooks.waiting})
        generation = {(self.registry.current.generation,): 1}
        yield _gauge("registry_info", "The registry in force.", generation, "generation")
        signing, since, now = self.ring.signing_kids.items(), self.ring.signing_since, clock()
        text = "The keys that sign now."
        yield _gauge("signing_key_info", text, dict.fromkeys(signing, 1), "alg", "kid")
        text = "For how long the keys that sign now have signed."
        ages = {key: max(0, now - since[key[0]]) for key in signing if key[0] in since}
        yield _gauge("signing_key_age_seconds", text, ages, "alg", "kid")
        used, limit = self.memory.used, self.memory.limit
        if used is not None:
            yield _gauge("store_memory_bytes", "Memory that Redis uses.", {(): used})
            text = "Memory that Redis may use; 0 where it has no limit."
            yield _gauge("store_memory_limit_bytes", text, {(): limit})


def _gauge(
    name: str, text: str, values: Mapping[LabelValues, float], *labels: str
) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(f"{NAMESPACE}_{name}", text, labels=labels)
    for of_labels, value in values.items():
        gauge.add_metric(of_labels, value)
    return gauge


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
        waiting = "Requests to the store that have no answer yet."
        self._waiting = gauge("store_waiting", waiting, multiprocess_mode="livesum")
        tracked = "Values of the store that count without asking it (store.tracking)."
        self._tracked = gauge("store_tracked_values", tracked, multiprocess_mode="livesum")
        failed = "Calls of the store that failed."
        self._failures = Counter("store_failures", failed, namespace=NAMESPACE, registry=registry)
        self._failures_counted = 0

    def update(self, readings: Readings) -> None:
        """Write down the present state, where the process that answers a scrape reads it."""
        self._away.set(readings.kv.seconds_away)
        self._waiting.set(readings.kv.waiting)
        tracking = readings.kv.tracking
        self._tracked.set(0 if tracking is None else len(tracking))
        self._circuit.set(readings.kv.circuit_open)
        failures = readings.kv.failures
        self._failures.inc(failures - self._failures_counted)
        self._failures_counted = failures


class UserSourceGauges:
    """Metrics of the system that users come from, where it is not the configuration file."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(Gauge, namespace=NAMESPACE, registry=registry)
        self._circuit = gauge(
            "users_circuit_open",
            "1 while users.source is asked only once a second, because it has not answered lately.",
            multiprocess_mode="livemax",
        )
        waiting = "Requests to users.source that have no answer yet."
        self._waiting = gauge("users_waiting", waiting, multiprocess_mode="livesum")
        failed = "Requests to users.source that got no usable answer."
        self._failures = Counter("users_failures", failed, namespace=NAMESPACE, registry=registry)
        self._failures_counted = 0

    def update(self, readings: Readings) -> None:
        """Write down the present state, where the process that answers a scrape reads it."""
        self._circuit.set(readings.users.circuit_open)
        self._waiting.set(readings.users.waiting)
        failures = readings.users.failures
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


class ProcessMetrics(Collector):
    """The usual process_* metrics, and which build runs.

    Reads /proc, which prometheus_client itself does not do where several workers share metrics.
    """

    def __init__(self, *, has_workers: bool) -> None:
        """Take whether this process is one of several workers, and its parent their supervisor."""
        self._has_workers = has_workers
        self._commit = find_commit()  # a checkout may move on while the service runs

    def collect(self) -> Iterator[Metric]:
        build = {(VERSION, self._commit, platform.python_version()): 1}
        yield _gauge("build_info", "The build that runs.", build, "version", "commit", "python")
        if self._has_workers:
            yield from _combine(os.getppid())
        else:
            yield from ProcessCollector(registry=None).collect()


def _combine(supervisor: int) -> Iterator[Metric]:
    """Combine the metrics of the supervisor and its workers.

    Workers that have ended keep their CPU seconds in the sum: a counter that falls is taken for
    a restart, and everything in it would be counted again.
    """
    children, cpu_seconds_of_ended_children = _read_processes(supervisor)
    metrics: dict[str, Metric] = {}
    values: dict[str, list[float]] = defaultdict(list)
    for pid in (supervisor, *children):
        for metric in ProcessCollector(pid=partial(int, pid), registry=None).collect():
            metrics[metric.name] = metric
            values[metric.name].append(metric.samples[0].value)
    values[CPU].append(cpu_seconds_of_ended_children)
    for name, metric in metrics.items():
        sample = metric.samples[0]
        metric.samples = [sample._replace(value=COMBINED[name](values[name]))]
        yield metric


def _read_processes(supervisor: int) -> tuple[list[int], float]:
    """Return the children, and cutime and cstime of proc(5) in seconds."""
    process = Path(f"/proc/{supervisor}")
    try:
        children = (process / f"task/{supervisor}/children").read_text().split()
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return [], 0
    ticks = int(fields[13]) + int(fields[14])
    return [int(each) for each in children], ticks / os.sysconf("SC_CLK_TCK")
