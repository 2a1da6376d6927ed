"""Counts events for Prometheus; no label has more values than this file and the served grants allow."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from prometheus_client import CollectorRegistry, Counter, disable_created_metrics
from prometheus_client.exposition import generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from service.model import (
    api_events,
    ciba_events,
    client_events,
    events,
    factor_events,
    passkey_events,
    provider_events,
)
from service.model.events import RequestAnswered
from service.observe import readings
from service.observe.durations import Durations
from service.observe.readings import NAMESPACE, Readings
from service.protocol.errors import OAuthError

OTHER = "other"

SETTLED_WITHIN = 0.2
"""Seconds until an event is counted, unless the metrics are read before."""

AT_ONCE = 500
"""Requests at most that are counted at once, so that others wait little meanwhile."""

MAX_REMEMBERED = 1000
"""Callers can make up what becomes `other`, so not everything is remembered."""

_Happened = tuple[type[object], Any]
"""A kind of event, and the values of its labels: one by itself, several as a tuple."""

_ERRORS = frozenset(kind.code for kind in OAuthError.__subclasses__())
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})


# The cause of a failed login is no label: readers of metrics could tell which accounts exist.
COUNTED: Mapping[type[object], tuple[str, ...]] = {
    events.TokenIssued: ("tokens_issued", "Token responses.", "grant_type"),
    events.TokenRefused: ("token_refusals", "Refused token requests.", "grant_type", "error"),
    api_events.TokenChecked: (
        "token_checks",
        "Requests that proxies asked about.",
        "api",
        "result",
    ),
    events.ClientRefused: ("client_refusals", "Callers not authenticated.", "endpoint"),
    events.ClientRegistered: ("clients_registered", "Clients that registered themselves."),
    client_events.ClientDocumentFetched: ("client_documents_fetched", "Documents of clients."),
    client_events.ClientDocumentRefused: (
        "client_document_refusals",
        "Metadata documents of clients that could not be used.",
    ),
    events.RegistrationRefused: ("registration_refusals", "Refused registrations.", "error"),
    events.AuthorizationGranted: ("authorizations", "Granted authorization requests."),
    events.DeviceAuthorizationStarted: ("device_authorizations", "Device codes given out."),
    events.UserCodeRefused: ("user_code_failures", "Unknown user codes of devices."),
    events.AuthorizationRefused: ("authorization_refusals", "Refused authorizations.", "error"),
    events.LoginSucceeded: ("logins", "Logins by password."),
    events.LoginFailed: ("login_failures", "Failed logins."),
    events.LoginLocked: ("login_lockouts", "Lockouts after too many failed logins."),
    passkey_events.PasskeySignInSucceeded: ("passkey_logins", "Logins by a passkey alone."),
    passkey_events.PasskeyRejected: ("passkey_refusals", "Passkeys that were refused."),
    factor_events.FactorEnrolled: ("factors_enrolled", "Second factors added.", "method"),
    factor_events.FactorRemoved: ("factors_removed", "Second factors removed.", "method"),
    factor_events.FactorAccepted: ("second_factors", "Second factors given.", "method"),
    factor_events.FactorRefused: ("second_factor_failures", "Wrong second factors.", "method"),
    factor_events.FactorLocked: ("second_factor_lockouts", "Lockouts after wrong second factors."),
    factor_events.UserNotifierFailed: ("user_notifier_failures", "Failed calls of the notifier."),
    provider_events.ProviderSignInFailed: (
        "provider_sign_in_failures",
        "Failed sign-ins at providers.",
    ),
    provider_events.ProviderLogoutReceived: ("provider_logouts", "Logouts at providers."),
    provider_events.ProviderLogoutRefused: ("provider_logout_refusals", "Refused logout tokens."),
    events.SessionStarted: ("sessions_started", "Sessions begun, by whatever login."),
    events.LoggedOut: ("logouts", "Logouts by the session's user."),
    events.BackChannelLogoutDelivered: (
        "backchannel_logouts_delivered",
        "Clients told of ended sessions.",
    ),
    events.BackChannelLogoutPostponed: (
        "backchannel_logouts_postponed",
        "Attempts to tell a client that failed and will be repeated.",
    ),
    events.BackChannelLogoutFailed: (
        "backchannel_logouts_failed",
        "Clients that could not be told.",
    ),
    ciba_events.CibaRequested: ("ciba_requests", "CIBA requests that were accepted."),
    ciba_events.CibaApproved: ("ciba_approvals", "CIBA requests that users allowed."),
    ciba_events.CibaDenied: ("ciba_denials", "CIBA requests that users denied."),
    ciba_events.CibaNotifierFailed: ("ciba_notifier_failures", "Failed calls of the notifier."),
    ciba_events.CibaMessageDelivered: ("ciba_messages_delivered", "Pings and notes.", "kind"),
    ciba_events.CibaMessagePostponed: (
        "ciba_messages_postponed",
        "Attempts to send a ping or note that failed and will be repeated.",
        "kind",
    ),
    ciba_events.CibaMessageFailed: (
        "ciba_messages_failed",
        "Pings and notes that could not be delivered.",
        "kind",
    ),
    api_events.TokenIntrospected: ("introspections", "Answers about tokens.", "active"),
    events.TokenRevoked: ("tokens_revoked", "Tokens revoked by their clients."),
    events.AuthorizationEnded: ("authorizations_ended", "Grants taken back."),
    events.CodeReplayed: ("code_replays", "Authorization codes that came twice."),
    events.RefreshTokenReused: ("refresh_token_reuses", "Spent refresh tokens seen again."),
    events.AssertionUsed: ("assertions_used", "Assertions of trusted issuers.", "issuer"),
    events.AssertionReplayed: ("assertion_replays", "Assertions that came twice.", "issuer"),
    events.ExtensionGrantFailed: (
        "extension_grant_failures",
        "Extension grants that failed.",
        "grant_type",
    ),
    events.KeyAnnounced: ("keys_announced", "New signing keys."),
    events.KeyRotated: ("keys_rotated", "Signing keys that took over."),
    events.KeyRetired: ("keys_retired", "Signing keys that stopped."),
    events.RegistryReloaded: ("registry_reloads", "Registries put in force."),
    events.RegistryReloadRefused: ("registry_reload_failures", "Registries with errors."),
    events.RequestAnswered: ("requests", "Requests.", "endpoint", "method", "status"),
}
"""By event: the counter's name, its help text, and the members of the event that become labels."""


class Metrics:
    """Listens to events, and counts them."""

    def __init__(self, *, has_workers: bool) -> None:
        """Make the metrics of this process, which may be one of several workers."""
        disable_created_metrics()  # type: ignore[no-untyped-call] # they double the series for nothing
        self._readings: Readings | None = None
        self._processes = readings.ProcessMetrics(has_workers=has_workers)
        self._registry = CollectorRegistry()
        self._counters = {
            kind: Counter(name, text, labels, namespace=NAMESPACE, registry=self._registry)
            for kind, (name, text, *labels) in COUNTED.items()
        }
        self._labels_of = {kind: _reader(labels) for kind, (_, _, *labels) in COUNTED.items()}
        self._labelled: dict[_Happened, Counter] = {}
        self._happened = defaultdict[_Happened, int](int)  # a `Counter` takes twice as long
        self._answered = defaultdict[tuple[str, str, int], list[float]](list)
        """How long requests took, by their labels."""
        self._at_once = defaultdict[tuple[object | None, tuple[str, str, int]], list[float]](list)
        """How long answers took, by the events of those given at once and the labels of their requests."""
        self._is_due = False
        self._store = readings.StoreGauges(self._registry)
        self._users = readings.UserSourceGauges(self._registry)
        self.connections = readings.ConnectionMetrics(self._registry)
        self.timed = Durations(self._registry)

    def watch(self, state: Readings) -> None:
        """Show the state of other parts from now on."""
        self._readings = state

    def count(self, event: object) -> None:
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
        self, event: object | None, labels: tuple[str, str, int], seconds: float
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
            if labels_of := self._labels_of.get(type(event)):
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
            if names := COUNTED[kind][2:]:
                each = values if len(names) > 1 else (values,)
                known = known.labels(*map(self._bound_label, names, each))
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


def _reader(labels: list[str]) -> Callable[[object], Any]:
    return attrgetter(*labels) if labels else lambda _: ()
