"""What is not counted but looked at when somebody asks for the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

NAMESPACE = "token_service"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings(Collector):
    """The state of the store, the registry and the keys, as this process sees it."""

    store_seconds_away: Callable[[], float]
    store_failures: Callable[[], int]
    registry_generation: Callable[[], str]
    signing_keys: Callable[[], Mapping[str, str]]
    """The key id that signs now, by algorithm."""
    logout_deliveries: Callable[[], int]

    def collect(self) -> Iterator[Metric]:
        """Read everything anew."""
        yield GaugeMetricFamily(
            f"{NAMESPACE}_store_away_seconds",
            "For how long the store has not answered; 0 while it does.",
            self.store_seconds_away(),
        )
        yield CounterMetricFamily(
            f"{NAMESPACE}_store_failures",
            "Calls of the store that failed.",
            self.store_failures(),
        )
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
        keys = GaugeMetricFamily(
            f"{NAMESPACE}_signing_key_info", "The keys that sign now.", labels=("alg", "kid")
        )
        for alg, kid in self.signing_keys().items():
            keys.add_metric((alg, kid), 1)
        yield keys
