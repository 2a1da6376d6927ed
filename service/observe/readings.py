"""What is not counted but looked at when somebody asks for the metrics, and the same for all processes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

NAMESPACE = "token_service"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings(Collector):
    """The state of the registry, the keys, the store and the queue, as this process sees it."""

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
    """From when on it does, by algorithm, as far as that is known."""
    logout_deliveries: Callable[[], int]
    store_memory: Callable[[], tuple[int | None, int]]
    """Bytes that Redis uses, as far as that is known, and may use, 0 for no limit."""
    now: Callable[[], int]

    def collect(self) -> Iterator[Metric]:
        """Read everything anew."""
        yield GaugeMetricFamily(
            f"{NAMESPACE}_logout_deliveries",
            "Clients that wait in the store to be told of an ended session.",
            self.logout_deliveries(),
        )
        registry = GaugeMetricFamily(
            f"{NAMESPACE}_registry_info", "The registry in force.", labels=("generation",)
        )
        registry.add_metric((self.registry_generation(),), 1)
        yield registry
        yield from self._keys()
        yield from self._memory()

    def _memory(self) -> Iterator[Metric]:
        used, limit = self.store_memory()
        if used is not None:
            yield GaugeMetricFamily(
                f"{NAMESPACE}_store_memory_bytes", "Memory that Redis uses.", used
            )
            yield GaugeMetricFamily(
                f"{NAMESPACE}_store_memory_limit_bytes",
                "Memory that Redis may use; 0 where it has no limit.",
                limit,
            )

    def _keys(self) -> Iterator[Metric]:
        """Each key that signs now, and for how long it has."""
        keys = GaugeMetricFamily(
            f"{NAMESPACE}_signing_key_info", "The keys that sign now.", labels=("alg", "kid")
        )
        ages = GaugeMetricFamily(
            f"{NAMESPACE}_signing_key_age_seconds",
            "For how long the keys that sign now have signed.",
            labels=("alg", "kid"),
        )
        signing, since, now = self.signing_keys(), self.signing_since(), self.now()
        for alg, kid in signing.items():
            keys.add_metric((alg, kid), 1)
            if alg in since:
                ages.add_metric((alg, kid), max(0, now - since[alg]))
        yield keys
        yield ages
