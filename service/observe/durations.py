"""Latency histograms of the hot operations; what was measured since the last scrape or second is added at once."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry, Histogram

from service.model.events import RequestAnswered
from service.model.timings import OthersAnswered, Signed, StoreAnswered
from service.observe.readings import NAMESPACE

_REQUEST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_ROUND_TRIP = (1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2)
_SIGNATURE = (1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1)
_OTHER_SERVER = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class _Timed(NamedTuple):
    """An event that has its duration in `seconds`."""

    event: type[object]
    name: str
    help: str
    label: str | None
    """The member of the event that becomes a label."""
    buckets: tuple[float, ...]


_TIMED = (
    _Timed(
        RequestAnswered,
        "request_duration_seconds",
        "Time until the answer was ready.",
        "endpoint",
        _REQUEST,
    ),
    _Timed(StoreAnswered, "store_seconds", "Time of a round trip to the store.", None, _ROUND_TRIP),
    _Timed(
        Signed,
        "signing_seconds",
        "Time of a signature, with the wait for a thread.",
        "alg",
        _SIGNATURE,
    ),
    _Timed(
        OthersAnswered,
        "outgoing_seconds",
        "Time until another server has answered, or has not.",
        "purpose",
        _OTHER_SERVER,
    ),
)


class Durations:
    """Collects durations by event and label until `settle` adds them to the histograms."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._labels = {timed.event: timed.label for timed in _TIMED}
        self._histograms = {
            timed.event: Histogram(
                timed.name,
                timed.help,
                () if timed.label is None else (timed.label,),
                namespace=NAMESPACE,
                registry=registry,
                buckets=timed.buckets,
            )
            for timed in _TIMED
        }
        self._waiting: dict[tuple[type[object], str], list[float]] = {}

    def __call__(self, event: Any) -> None:
        """Note a duration."""
        kind: type[object] = event.__class__
        label = self._labels[kind]
        key = kind, "" if label is None else getattr(event, label)
        noted = self._waiting.get(key)
        if noted is None:
            noted = self._waiting[key] = []
        noted.append(event.seconds)

    def settle(self) -> None:
        """Add to the histograms what was noted."""
        for (kind, value), seconds in self._waiting.items():
            if seconds:
                histogram = self._histograms[kind]
                _add(histogram.labels(value) if self._labels[kind] else histogram, seconds)
                seconds.clear()


def _add(histogram: Any, seconds: list[float]) -> None:
    """As `observe` for each, but each sum is added to once: with several workers it lies in a file."""
    bounds, sums = histogram._upper_bounds, histogram._buckets  # noqa: SLF001 - it cannot take several
    for bucket, times in Counter(bisect_left(bounds, each) for each in seconds).items():
        sums[bucket].inc(times)
    histogram._sum.inc(sum(seconds))  # noqa: SLF001
