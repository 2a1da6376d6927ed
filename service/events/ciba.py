"""Events of CIBA."""

from __future__ import annotations

from service.events.event import Event, EventCounter


class CibaRequested(Event, frozen=True, kw_only=True):
    """A client requested the authentication of a user (docs/ciba.md); `auth_req_ref` names the request in the log, and no client can poll with it."""

    counter = EventCounter("ciba_requests", "CIBA requests that were accepted.")
    client_id: str
    subject: str
    auth_req_ref: str
    scope: frozenset[str]


class CibaApproved(Event, frozen=True, kw_only=True):
    """The user approved a CIBA request."""

    counter = EventCounter("ciba_approvals", "CIBA requests that users approved.")
    client_id: str
    subject: str
    auth_req_ref: str
    scope: frozenset[str]


class CibaDenied(Event, frozen=True, kw_only=True):
    """The user denied a CIBA request."""

    counter = EventCounter("ciba_denials", "CIBA requests that users denied.")
    client_id: str
    subject: str
    auth_req_ref: str


class CibaNotifierFailed(Event, frozen=True, kw_only=True):
    """The configured notifier failed or took too long; the request waits at its page."""

    level = "warning"
    counter = EventCounter(
        "ciba_notifier_failures", "Failed calls of the CIBA notifier; alert on any."
    )
    client_id: str
    auth_req_ref: str
    cause: str


class CibaMessageDelivered(Event, frozen=True, kw_only=True):
    """The client accepted a ping, or the webhook a note."""

    counter = EventCounter("ciba_messages_delivered", "Delivered pings and notes.", ("kind",))
    client_id: str
    kind: str
    """ping or webhook."""
    auth_req_ref: str
    attempts: int


class CibaMessagePostponed(Event, frozen=True, kw_only=True):
    """A ping or a note was not accepted; it is sent again later."""

    counter = EventCounter(
        "ciba_messages_postponed",
        "Attempts to send a ping or note that failed and will be repeated.",
        ("kind",),
    )
    client_id: str
    kind: str
    auth_req_ref: str
    attempts: int
    cause: str


class CibaMessageFailed(Event, frozen=True, kw_only=True):
    """A ping or a note was refused, or the last attempt to send it failed."""

    level = "warning"
    counter = EventCounter(
        "ciba_messages_failed", "Pings and notes that could not be delivered.", ("kind",)
    )
    client_id: str
    kind: str
    auth_req_ref: str
    attempts: int
    cause: str
