"""Times the hot operations: latency histograms for Prometheus."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from math import inf
from typing import Any, Protocol, get_args

import msgspec
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from service.events.timings import Histogram, Timing
from service.observe.readings import NAMESPACE

_HISTOGRAMS: Mapping[type[object], Histogram] = {kind: kind.histogram for kind in get_args(Timing)}


class Collects(Protocol):
    """A registry of prometheus_client, or a collector of several processes."""

    def collect(self) -> Iterable[Metric]: ...


class _Series(msgspec.Struct, frozen=True):
    """The counters of one histogram and label."""

    bounds: tuple[float, ...]
    buckets: tuple[Counter, ...]
    """Each counts what is above the bound before it, the last one what is above all bounds."""
    sum: Counter

    def add(self, seconds: list[float]) -> None:
        """Add each sum once, because with several workers it lies in a file."""
        seconds.sort()
        below = 0
        for bound, bucket in zip((*self.bounds, inf), self.buckets, strict=True):
            within = bisect_right(seconds, bound)
            if within > below:
                bucket.inc(within - below)
                below = within
        self.sum.inc(sum(seconds))


class Durations:
    """Counts durations by bucket; `settle` adds at once those that were noted since the last scrape or second.

    `Histogram` of prometheus_client has no method that adds several.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        counter = partial(Counter, namespace=NAMESPACE, registry=registry)
        self._counters = {
            kind: (
                counter(_bucket_name(histogram), histogram.text, (*_labels(histogram), "le")),
                counter(_sum_name(histogram), histogram.text, _labels(histogram)),
            )
            for kind, histogram in _HISTOGRAMS.items()
        }
        self._label_of = {kind: histogram.label for kind, histogram in _HISTOGRAMS.items()}
        self._series: dict[tuple[type[object], str | None], _Series] = {
            (kind, None): self._make_series(kind, None)
            for kind, label in self._label_of.items()
            if label is None
        }
        self._waiting = defaultdict[tuple[type[object], str | None], list[float]](list)

    def note(self, event: Timing) -> None:
        """Note a duration."""
        kind = event.__class__
        label = self._label_of[kind]
        self._waiting[kind, label and getattr(event, label)].append(event.seconds)

    def note_all(self, kind: type[object], value: str, seconds: list[float]) -> None:
        """Note durations of events of one kind and label."""
        self._waiting[kind, value] += seconds

    def settle(self) -> None:
        """Count what was noted."""
        while self._waiting:
            found, seconds = self._waiting.popitem()
            series = self._series.get(found)
            if series is None:
                series = self._series[found] = self._make_series(*found)
            series.add(seconds)

    def _make_series(self, kind: type[object], value: str | None) -> _Series:
        (buckets, total), bounds = self._counters[kind], _HISTOGRAMS[kind].buckets
        labels = () if value is None else (value,)
        return _Series(
            bounds=bounds,
            buckets=tuple(buckets.labels(*labels, _bound_text(each)) for each in (*bounds, inf)),
            sum=total.labels(*labels) if labels else total,
        )


class WithHistograms(Collector):
    """Shows the counters of `Durations` as histograms, and all others as they are."""

    def __init__(self, counted: Collects) -> None:
        self._counted = counted

    def collect(self) -> Iterator[Metric]:
        metrics = {metric.name: metric for metric in self._counted.collect()}
        for histogram in _HISTOGRAMS.values():
            buckets = metrics.pop(f"{NAMESPACE}_{_bucket_name(histogram)}", None)
            sums = metrics.pop(f"{NAMESPACE}_{_sum_name(histogram)}", None)
            if buckets is not None and sums is not None:
                yield _as_histogram(histogram, buckets, sums)
        yield from metrics.values()


def _as_histogram(histogram: Histogram, buckets: Metric, sums: Metric) -> HistogramMetricFamily:
    counts = defaultdict[str, dict[str, float]](dict)
    for sample in buckets.samples:
        counts[sample.labels.get(histogram.label or "", "")][sample.labels["le"]] = sample.value
    family = HistogramMetricFamily(
        f"{NAMESPACE}_{histogram.name}", histogram.text, labels=_labels(histogram)
    )
    bounds = [_bound_text(bound) for bound in (*histogram.buckets, inf)]
    for sample in sums.samples:
        value = sample.labels.get(histogram.label or "", "")
        running = accumulate(counts[value].get(bound, 0) for bound in bounds)
        labels: Any = [value] if histogram.label else []
        family.add_metric(labels, list(zip(bounds, running, strict=True)), sample.value)
    return family


def _bound_text(bound: float) -> str:
    return "+Inf" if bound == inf else str(float(bound))


def _labels(histogram: Histogram) -> tuple[str, ...]:
    return (histogram.label,) if histogram.label else ()


def _bucket_name(histogram: Histogram) -> str:
    return f"{histogram.name}_bucket"


def _sum_name(histogram: Histogram) -> str:
    return f"{histogram.name}_sum"
