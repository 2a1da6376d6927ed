"""Counts events for Prometheus; no label has more values than this file and the served grants allow."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, disable_created_metrics
from prometheus_client.exposition import generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from service.model import events
from service.observe.durations import Durations
from service.observe.process_metrics import ProcessMetrics
from service.observe.readings import NAMESPACE, ConnectionMetrics, Readings, StoreGauges
from service.protocol.errors import OAuthError

OTHER = "other"

SETTLED_WITHIN = 0.2
"""Seconds until an event is counted, unless the metrics are read before."""

AT_ONCE = 500

MAX_REMEMBERED = 1000
"""Callers can make up what becomes `other`, so not everything is remembered."""

_Happened = tuple[type[object], tuple[object, ...]]
"""A kind of event, and the values of its labels."""

_ERRORS = frozenset(kind.code for kind in OAuthError.__subclasses__())
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})


class Counted(NamedTuple):
    """An event that a counter counts."""

    event: type[object]
    name: str
    help: str
    label_names: str = ""
    """Members of the event that become labels, with spaces between them."""

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.label_names.split())


COUNTED = (  # The cause of a failed login is no label: readers of metrics could tell which accounts exist.
    Counted(events.TokenIssued, "tokens_issued", "Token responses.", "grant_type"),
    Counted(events.TokenRefused, "token_refusals", "Refused token requests.", "grant_type error"),
    Counted(events.ClientRefused, "client_refusals", "Callers not authenticated.", "endpoint"),
    Counted(events.ClientRegistered, "clients_registered", "Clients that registered themselves."),
    Counted(events.RegistrationRefused, "registration_refusals", "Refused registrations.", "error"),
    Counted(events.AuthorizationGranted, "authorizations", "Granted authorization requests."),
    Counted(
        events.AuthorizationRefused, "authorization_refusals", "Refused authorizations.", "error"
    ),
    Counted(events.LoginSucceeded, "logins", "Logins by password."),
    Counted(events.LoginFailed, "login_failures", "Failed logins."),
    Counted(events.LoginLocked, "login_lockouts", "Lockouts after too many failed logins."),
    Counted(
        events.ProviderSignInFailed, "provider_sign_in_failures", "Failed sign-ins at providers."
    ),
    Counted(events.SessionStarted, "sessions_started", "Sessions begun, by whatever login."),
    Counted(events.LoggedOut, "logouts", "Logouts by the session's user."),
    Counted(
        events.BackChannelLogoutDelivered,
        "backchannel_logouts_delivered",
        "Clients told of ended sessions.",
    ),
    Counted(
        events.BackChannelLogoutPostponed,
        "backchannel_logouts_postponed",
        "Attempts to tell a client that failed and will be repeated.",
    ),
    Counted(
        events.BackChannelLogoutFailed,
        "backchannel_logouts_failed",
        "Clients that could not be told.",
    ),
    Counted(events.TokenIntrospected, "introspections", "Answers about tokens.", "active"),
    Counted(events.TokenRevoked, "tokens_revoked", "Tokens revoked by their clients."),
    Counted(events.AuthorizationEnded, "authorizations_ended", "Grants taken back."),
    Counted(events.CodeReplayed, "code_replays", "Authorization codes that came twice."),
    Counted(events.RefreshTokenReused, "refresh_token_reuses", "Spent refresh tokens seen again."),
    Counted(
        events.ExtensionGrantFailed,
        "extension_grant_failures",
        "Extension grants that failed.",
        "grant_type",
    ),
    Counted(events.KeyAnnounced, "keys_announced", "New signing keys."),
    Counted(events.KeyRotated, "keys_rotated", "Signing keys that took over."),
    Counted(events.KeyRetired, "keys_retired", "Signing keys that stopped."),
    Counted(events.RegistryReloaded, "registry_reloads", "Registries put in force."),
    Counted(events.RegistryReloadRefused, "registry_reload_failures", "Registries with errors."),
    Counted(events.RequestAnswered, "requests", "Requests.", "endpoint method status"),
)


class Metrics:
    """Listens to events, and counts them."""

    def __init__(self, *, has_workers: bool) -> None:
        """Make the metrics of this process, which may be one of several workers."""
        disable_created_metrics()  # type: ignore[no-untyped-call] # they double the series for nothing
        self._readings: Readings | None = None
        self._processes = ProcessMetrics(has_workers=has_workers)
        self._registry = CollectorRegistry()
        self._counters = {
            each.event: Counter(
                each.name, each.help, each.labels, namespace=NAMESPACE, registry=self._registry
            )
            for each in COUNTED
        }
        self._labels = {each.event: each.labels for each in COUNTED}
        self._labels_of = {each.event: _reader(each.labels) for each in COUNTED}
        self._labelled: dict[_Happened, Counter] = {}
        self._waiting: list[object] = []
        self._store = StoreGauges(self._registry)
        self.connections = ConnectionMetrics(self._registry)
        self.timed = Durations(self._registry)

    def watch(self, readings: Readings) -> None:
        """Show the state of other parts from now on."""
        self._readings = readings

    def __call__(self, event: object) -> None:
        """Count an event, a little later and together with others: so each costs a third of what it costs alone."""
        self._waiting.append(event)
        if len(self._waiting) >= AT_ONCE:
            self.settle()
        elif len(self._waiting) == 1:
            try:
                asyncio.get_running_loop().call_later(SETTLED_WITHIN, self.settle)
            except RuntimeError:
                self.settle()

    def settle(self) -> None:
        """Count what is equal at once: of five hundred events there are only a few kinds."""
        waiting, self._waiting = self._waiting, []
        times = defaultdict[_Happened, int](int)
        for event in waiting:
            read = self._labels_of.get(type(event))
            if read is not None:
                times[type(event), read(event)] += 1
            if isinstance(event, events.RequestAnswered):
                self.timed(event)
        for happened, often in times.items():
            self._counter(happened).inc(often)
        self.timed.settle()
        if self._readings is not None:
            self._store.update(self._readings)

    def _counter(self, happened: _Happened) -> Counter:
        """Return the counter with these labels, remembered: prometheus_client looks it up under a lock."""
        known = self._labelled.get(happened)
        if known is None:
            kind, values = happened
            known = self._counters[kind]
            if names := self._labels[kind]:
                known = known.labels(*map(self._bound_label, names, values))
            if len(self._labelled) < MAX_REMEMBERED:
                self._labelled[happened] = known
        return known

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format; those of all workers where there are several."""
        self.settle()
        counted, read = self._registry, CollectorRegistry()
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            counted = CollectorRegistry()
            MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
        if self._readings is not None:
            read.register(self._readings)
        read.register(self._processes)
        return generate_latest(counted) + generate_latest(read)

    def _bound_label(self, label: str, value: object) -> str:
        """Return an event's member as a label, or `other` where a caller could have made it up."""
        match label:
            case "grant_type":
                known = self._readings is not None and value in self._readings.grant_types()
            case "error":
                known = value in _ERRORS
            case "method":
                known = value in _METHODS
            case _:
                known = True
        return str(value).lower() if label == "active" else str(value) if known else OTHER


def _reader(labels: tuple[str, ...]) -> Callable[[object], tuple[object, ...]]:
    """Return a function that reads the values of these labels from an event."""
    if len(labels) > 1:
        return attrgetter(*labels)
    return lambda event: tuple([getattr(event, label) for label in labels])
