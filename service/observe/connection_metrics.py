"""Metrics of connections: how many are open, and why others were dropped."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

from service.observe.readings import NAMESPACE


class ConnectionMetrics:
    """Counts connections as they open and close."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Make the metrics."""
        self._open = Gauge(
            "connections",
            "Open connections.",
            namespace=NAMESPACE,
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._dropped = Counter(
            "connections_dropped",
            "Connections that this service closed to protect itself.",
            ("reason",),
            namespace=NAMESPACE,
            registry=registry,
        )

    def count_open(self) -> None:
        """Count a connection."""
        self._open.inc()

    def count_close(self) -> None:
        """Count one less."""
        self._open.dec()

    def count_drop(self, reason: str) -> None:
        """Count a connection that was not closed by its client."""
        self._dropped.labels(reason).inc()
