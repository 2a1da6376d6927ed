"""Counts events for Prometheus; no label has values that a caller can make up."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from prometheus_client import CollectorRegistry, Counter, disable_created_metrics
from prometheus_client.exposition import generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from service.events.event import Event, find_kinds
from service.events.timings import RequestAnswered
from service.observe import readings
from service.observe.durations import Durations, WithHistograms
from service.observe.readings import NAMESPACE, Readings
from service.protocol.errors import OAuthError

OTHER = "other"

SETTLED_WITHIN = 0.2
"""Seconds until an event is counted, unless the metrics are read before."""

AT_ONCE = 500
"""Requests at most that are counted at once, so that others wait little meanwhile."""

MAX_REMEMBERED = 1000
"""Callers can make up what becomes `other`, so not everything is remembered."""

_Happened = tuple[type[Event], Any]
"""A kind of event, and the values of its labels: one by itself, several as a tuple."""

_ERRORS = frozenset(kind.code for kind in OAuthError.__subclasses__())
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})


EVENTS = find_kinds()
_COUNTED = {kind: kind.counter for kind in EVENTS if kind.counter is not None}


class Metrics:
    """Listens to events, and counts them."""

    def __init__(self, *, has_workers: bool) -> None:
        """Make the metrics of this process, which may be one of several workers."""
        disable_created_metrics()  # type: ignore[no-untyped-call] # they double the series for nothing
        self._readings: Readings | None = None
        self._processes = readings.ProcessMetrics(has_workers=has_workers)
        self._registry = CollectorRegistry()
        self._counters = {
            kind: Counter(
                counter.name,
                counter.text,
                counter.labels,
                namespace=NAMESPACE,
                registry=self._registry,
            )
            for kind, counter in _COUNTED.items()
        }
        self._labels_of = {kind: _reader(counter.labels) for kind, counter in _COUNTED.items()}
        self._labelled: dict[_Happened, Counter] = {}
        self._happened = defaultdict[_Happened, int](int)  # a `Counter` takes twice as long
        self._answered = defaultdict[tuple[str, str, int], list[float]](list)
        """How long requests took, by their labels."""
        self._at_once = defaultdict[tuple[Event | None, tuple[str, str, int]], list[float]](list)
        """How long answers took, by the events of those given at once and the labels of their requests."""
        self._is_due = False
        self._store = readings.StoreGauges(self._registry)
        self._users = readings.UserSourceGauges(self._registry)
        self.connections = readings.ConnectionMetrics(self._registry)
        self.timed = Durations(self._registry)

    def watch(self, state: Readings) -> None:
        """Show the state of other parts from now on."""
        self._readings = state

    def count(self, event: Event) -> None:
        """Note an event, to be counted a little later with those that are equal: so each costs a third of what it costs alone."""
        if type(event) is RequestAnswered:  # the most frequent by far, and timed
            seconds = self._answered[event.endpoint, event.method, event.status]
            seconds.append(event.seconds)
            if len(seconds) >= AT_ONCE:
                self.settle()
        elif labels_of := self._labels_of.get(type(event)):
            self._happened[type(event), labels_of(event)] += 1
        if not self._is_due:
            self._settle_soon()

    def count_at_once(
        self, event: Event | None, labels: tuple[str, str, int], seconds: float
    ) -> None:
        """Note a request and its event, if there is one, as an `EmitAtOnce`: together they cost an eighth of what they do by `count`."""
        alike = self._at_once[event, labels]
        alike.append(seconds)
        if len(alike) == AT_ONCE:
            asyncio.get_running_loop().call_soon(self.settle)
        if not self._is_due:
            self._settle_soon()

    def _settle_soon(self) -> None:
        try:
            asyncio.get_running_loop().call_later(SETTLED_WITHIN, self._settle_now)
            self._is_due = True
        except RuntimeError:
            self.settle()

    def _settle_now(self) -> None:
        self._is_due = False
        self.settle()

    def settle(self) -> None:
        """Count what was noted, each taken out before it is counted: if a counter raises, nothing counts twice."""
        while self._at_once:
            (event, labels), seconds = self._at_once.popitem()
            self._answered[labels] += seconds
            if event is not None and (labels_of := self._labels_of.get(type(event))):
                self._happened[type(event), labels_of(event)] += len(seconds)
        while self._happened:
            kind_and_labels, often = self._happened.popitem()
            self._counter(kind_and_labels).inc(often)
        while self._answered:
            labels, seconds = self._answered.popitem()
            self._counter((RequestAnswered, labels)).inc(len(seconds))
            self.timed.note_all(RequestAnswered, labels[0], seconds)
        self.timed.settle()
        if self._readings is not None:
            self._store.update(self._readings)
            self._users.update(self._readings)

    def _counter(self, happened: _Happened) -> Counter:
        """Return the counter with these labels, remembered: prometheus_client looks it up under a lock."""
        known = self._labelled.get(happened)
        if known is None:
            kind, values = happened
            known = self._counters[kind]
            if names := _COUNTED[kind].labels:
                each = values if len(names) > 1 else (values,)
                known = known.labels(*map(self._bound_label, names, each))
            if len(self._labelled) < MAX_REMEMBERED:
                self._labelled[happened] = known
        return known

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format; those of all workers where there are several."""
        self.settle()
        has_workers = "PROMETHEUS_MULTIPROC_DIR" in os.environ
        counted = MultiProcessCollector(None) if has_workers else self._registry  # type: ignore[no-untyped-call]
        shown = CollectorRegistry()
        shown.register(WithHistograms(counted))
        if self._readings is not None:
            shown.register(self._readings)
        shown.register(self._processes)
        return generate_latest(shown)

    def _bound_label(self, label: str, value: object) -> str:
        """Return an event's member as a label, or `other` where a caller could have made it up."""
        match label:
            case "grant_type":
                known = self._readings is not None and value in self._readings.grants.types
            case "error":
                known = value in _ERRORS
            case "method":
                known = value in _METHODS
            case _:
                known = True
        return str(value).lower() if label == "active" else str(value) if known else OTHER


def _reader(labels: tuple[str, ...]) -> Callable[[object], Any]:
    return attrgetter(*labels) if labels else lambda _: ()
