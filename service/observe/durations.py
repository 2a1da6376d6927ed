"""Times the hot operations: latency histograms for Prometheus."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Histogram

from service.model import events
from service.model.timings import OthersAnswered, Signed, StoreAnswered
from service.observe.readings import NAMESPACE

_REQUEST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_ROUND_TRIP = (1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2)
_SIGNATURE = (1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1)
_OTHER_SERVER = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

_TIMED: Mapping[type[object], tuple[tuple[float, ...], str, str, str | None]] = {
    events.RequestAnswered: (
        _REQUEST,
        "request_duration_seconds",
        "Time until the answer was ready.",
        "endpoint",
    ),
    StoreAnswered: (_ROUND_TRIP, "store_seconds", "Time of a round trip to the store.", None),
    Signed: (
        _SIGNATURE,
        "signing_seconds",
        "Time of a signature, with the wait for a thread.",
        "alg",
    ),
    OthersAnswered: (
        _OTHER_SERVER,
        "outgoing_seconds",
        "Time until another server has answered, or has not.",
        "purpose",
    ),
}
"""By event, which has its duration in `seconds`: buckets, name, help text, and the member that becomes a label."""


class Durations:
    """Latency histograms; what was measured since the last scrape or second is added by `settle` at once."""

    def __init__(self, registry: CollectorRegistry) -> None:
        histogram = partial(Histogram, namespace=NAMESPACE, registry=registry)
        self._histograms = {
            kind: histogram(name, text, [label] if label else [], buckets=buckets)
            for kind, (buckets, name, text, label) in _TIMED.items()
        }
        self._labels = {kind: label for kind, (*_, label) in _TIMED.items()}
        self._waiting = defaultdict[tuple[type[object], str | None], list[float]](list)

    def note(self, event: Any) -> None:
        """Note a duration."""
        kind: type[object] = event.__class__
        label = self._labels[kind]
        self._waiting[kind, label and getattr(event, label)].append(event.seconds)

    def note_all(self, kind: type[object], value: str, seconds: list[float]) -> None:
        """Note durations of events of one kind and label."""
        self._waiting[kind, value] += seconds

    def settle(self) -> None:
        """Add to the histograms what was noted."""
        while self._waiting:
            (kind, value), seconds = self._waiting.popitem()
            histogram = self._histograms[kind]
            _add(histogram.labels(value) if self._labels[kind] else histogram, seconds)


def _add(histogram: Any, seconds: list[float]) -> None:
    """As `observe` for each, but each sum is added to once: with several workers it lies in a file."""
    bounds, sums = histogram._upper_bounds, histogram._buckets  # noqa: SLF001 - it cannot take several
    seconds.sort()
    below = 0
    for bound, bucket in zip(bounds, sums, strict=True):
        within = bisect_right(seconds, bound)
        if within > below:
            bucket.inc(within - below)
            below = within
    histogram._sum.inc(sum(seconds))  # noqa: SLF001
