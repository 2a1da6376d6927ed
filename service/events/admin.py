"""Events of the admin API and the console."""

from __future__ import annotations

from service.events.event import Event, EventCounter


class AdminRefused(Event, frozen=True, kw_only=True):
    """A request to the admin API or the console was refused: its token, its user or its Host header is not the right one.

    `client_id` and `subject` are those of the token, if it was a good one.
    """

    level = "warning"
    webhooks = "name"
    counter = EventCounter(
        "admin_refusals", "Refused requests to the admin API and the console.", ("error",)
    )
    method: str
    endpoint: str
    """The path as docs/operations/admin.md writes it, without names of users."""
    error: str
    cause: str
    client_id: str | None = None
    subject: str | None = None
    address: str


class AdminSignedIn(Event, frozen=True, kw_only=True):
    """An operator signed in at the console, or again for a change; a sign-in that was refused is `admin_refused` with the endpoint `/callback`.

    `session_id` is that of the user's session at the service, with which the one of the console ends. `writes` says whether
    `admin.writers` includes the operator.
    """

    counter = EventCounter("admin_sign_ins", "Sign-ins at the console.", ())
    subject: str
    session_id: str | None
    amr: tuple[str, ...]
    writes: bool
    address: str


class AdminSignedOut(Event, frozen=True, kw_only=True):
    """An operator signed out of the console, which ended the user's session at the service, too.

    A session of the console that ends because it was not used for 15 minutes, or with the user's own, has no event.
    """

    counter = EventCounter("admin_sign_outs", "Operators who signed out of the console.", ())
    subject: str
    session_id: str | None
    address: str


class AdminAction(Event, frozen=True, kw_only=True):
    """An operator ended or changed something by the admin API or the console.

    `actor_client_id` and `actor_subject` say who did it, without a user if a client acted for itself; `subject`, `client_id` and
    `target` say whose, and what: the id of a session, grant, key or message. `count` is how much there was.
    """

    counter = EventCounter("admin_actions", "What operators ended or changed.", ("action",))
    action: str
    actor_client_id: str
    actor_subject: str | None
    subject: str | None = None
    client_id: str | None = None
    target: str | None = None
    count: int
    address: str
