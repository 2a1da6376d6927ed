"""How long what is done all day takes: histograms, to which all that a moment brought is added at once."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import CollectorRegistry, Histogram

from service.model.events import RequestAnswered
from service.model.timings import OthersAnswered, Signed, StoreAnswered
from service.observe.readings import NAMESPACE

_REQUEST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_ROUND_TRIP = (
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1,
    2,
)
_SIGNATURE = (1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1)
_OTHER_SERVER = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Timed:
    """Something that says in `seconds` how long it took, and the member that becomes a label."""

    event: type[object]
    name: str
    help: str
    label: str | None
    buckets: tuple[float, ...]


TIMED = (
    Timed(
        RequestAnswered,
        "request_duration_seconds",
        "Time until the answer was ready.",
        "endpoint",
        _REQUEST,
    ),
    Timed(
        StoreAnswered,
        "store_seconds",
        "Time of a round trip to the store.",
        None,
        _ROUND_TRIP,
    ),
    Timed(
        Signed,
        "signing_seconds",
        "Time of a signature, with the wait for a thread.",
        "alg",
        _SIGNATURE,
    ),
    Timed(
        OthersAnswered,
        "outgoing_seconds",
        "Time until another server has answered, or has not.",
        "purpose",
        _OTHER_SERVER,
    ),
)


@dataclass(frozen=True, slots=True)
class _Kind:
    histogram: Histogram
    label: str | None
    seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """What has not been added yet, by the label's value."""


class Durations:
    """Hears what took how long; the lists are emptied by `settle`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Make the histograms."""
        self._kinds: Mapping[type[object], _Kind] = {
            timed.event: _Kind(_histogram(timed, registry), timed.label) for timed in TIMED
        }

    def __call__(self, event: Any) -> None:
        """Note how long something took."""
        kind = self._kinds[type(event)]
        value = "" if kind.label is None else getattr(event, kind.label)
        noted = kind.seconds.get(value)
        if noted is None:
            noted = kind.seconds[value] = []
        noted.append(event.seconds)

    def settle(self) -> None:
        """Add to the histograms what was noted."""
        for kind in self._kinds.values():
            for value, seconds in kind.seconds.items():
                if seconds:
                    _add(kind.histogram.labels(value) if kind.label else kind.histogram, seconds)
                    seconds.clear()


def _histogram(timed: Timed, registry: CollectorRegistry) -> Histogram:
    return Histogram(
        timed.name,
        timed.help,
        () if timed.label is None else (timed.label,),
        namespace=NAMESPACE,
        registry=registry,
        buckets=timed.buckets,
    )


def _add(histogram: Any, seconds: list[float]) -> None:
    """As `observe` for each, but each sum is added to once: with several workers it lies in a file."""
    bounds, sums = histogram._upper_bounds, histogram._buckets  # noqa: SLF001 - it has no way to take several
    for bucket, times in Counter(bisect_left(bounds, each) for each in seconds).items():
        sums[bucket].inc(times)
    histogram._sum.inc(sum(seconds))  # noqa: SLF001
