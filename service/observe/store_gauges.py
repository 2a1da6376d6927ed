"""How do the processes get on with the store? Each writes down its own state; shown is their sum, or the worst."""

from __future__ import annotations

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge

from service.observe.readings import NAMESPACE, Readings


class StoreGauges:
    """Shows the state as it was at the last look; a worker that has ended is seen no more."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Make the metrics."""
        made = partial(Gauge, namespace=NAMESPACE, registry=registry)
        self._failures_counted = 0
        self._away = made(
            "store_away_seconds",
            "For how long the store has not answered; 0 while it does.",
            multiprocess_mode="livemax",
        )
        self._waiting = made(
            "store_waiting",
            "Questions to the store that have no answer yet.",
            multiprocess_mode="livesum",
        )
        self._circuit = made(
            "circuit_open",
            "1 while the store is not asked, because it has not answered lately.",
            multiprocess_mode="livemax",
        )
        self._failures = Counter(
            "store_failures",
            "Calls of the store that failed.",
            namespace=NAMESPACE,
            registry=registry,
        )

    def read(self, now: Readings) -> None:
        """Take over the present state."""
        self._away.set(now.store_seconds_away())
        self._waiting.set(now.store_waiting())
        self._circuit.set(now.circuit_open())
        failures = now.store_failures()
        self._failures.inc(failures - self._failures_counted)
        self._failures_counted = failures
