"""Events of users: logins, accounts, sessions, logouts, and what clients are sent about logouts."""

from __future__ import annotations

from service.events.event import Event, EventCounter
from service.model.user import LoginFailure


class LoginSucceeded(Event, frozen=True, kw_only=True):
    """A user authenticated with a password."""

    counter = EventCounter("logins", "Logins by password.")
    subject: str
    username: str
    address: str


class LoginFailed(Event, frozen=True, kw_only=True):
    """A login by password failed.

    `reason` is `unknown`, `wrong_password`, `disabled`, `locked`, `malformed` or `other_tenant`; of a directory also
    `password_expired` (the password was right, and has to be changed first), `locked_there`, `account_expired`,
    `outside_hours` or `other_workstation`. A `username` that no account has is logged only as a hash, because it may be a
    password, and `subject` is `null`.
    """

    webhooks = "name"
    counter = EventCounter(  # a label with the reason would tell readers which accounts exist
        "login_failures",
        "Failed logins; without the reason, which would tell which accounts exist.",
    )
    username: str
    subject: str | None = None
    address: str
    reason: LoginFailure


class LoginLocked(Event, frozen=True, kw_only=True):
    """Too many logins failed; even the right password is refused for `limits.lockout`."""

    level = "warning"
    webhooks = "name"
    counter = EventCounter("login_lockouts", "Lockouts after too many failed logins.")
    username: str
    subject: str | None = None
    address: str


class PasswordHashReplaced(Event, frozen=True, kw_only=True):
    """After a login, a hash in an old format (`scheme`) or at a low cost was replaced by a current one."""

    subject: str
    scheme: str


class UserDisabled(Event, frozen=True, kw_only=True):
    """An operator disabled a user (`users disable`), whose sessions and tokens are inactive from then on."""

    subject: str


class UserEnabled(Event, frozen=True, kw_only=True):
    """An operator enabled a user again."""

    subject: str


class SessionStarted(Event, frozen=True, kw_only=True):
    """A session began, after a login of any kind."""

    counter = EventCounter("sessions_started", "Sessions begun, by any login.")
    session_id: str
    subject: str
    idp: str
    amr: tuple[str, ...]


class SessionEnded(Event, frozen=True, kw_only=True):
    """A user or an operator ended a session."""

    session_id: str
    subject: str


class SubjectRevoked(Event, frozen=True, kw_only=True):
    """All that a user has was ended because a client or an identity provider asked for it (global token revocation).

    The grants and sessions have events of their own; `grants` counts those that had not ended with their session. `client_id` or
    `provider` names the caller.
    """

    counter = EventCounter("subject_revocations", "Users whose access another party has ended.")
    subject: str
    client_id: str | None = None
    provider: str | None = None
    sessions: int
    grants: int
    consents: int
    requests: int


class SubjectRevocationRefused(Event, frozen=True, kw_only=True):
    """A request for the end of all that a user has was refused; `client_id` and `provider` are `null` for an unknown caller."""

    counter = EventCounter(
        "subject_revocation_refusals",
        "Refused requests for the end of a user's access.",
        ("error",),
    )
    webhooks = "name"
    client_id: str | None = None
    provider: str | None = None
    error: str
    cause: str


class LoggedOut(Event, frozen=True, kw_only=True):
    """A user logged out."""

    counter = EventCounter("logouts", "Logouts by the session's user.")
    subject: str
    session_id: str


class BackChannelLogoutDelivered(Event, frozen=True, kw_only=True):
    """A client accepted the logout token of an ended session."""

    counter = EventCounter(
        "backchannel_logouts_delivered", "Logout tokens of ended sessions that clients accepted."
    )
    client_id: str
    session_id: str | None
    attempts: int


class BackChannelLogoutPostponed(Event, frozen=True, kw_only=True):
    """A client refused the logout token or did not answer; it is sent again later."""

    counter = EventCounter(
        "backchannel_logouts_postponed", "Attempts to send a logout token that will be repeated."
    )
    client_id: str
    session_id: str | None
    attempts: int
    cause: str


class BackChannelLogoutFailed(Event, frozen=True, kw_only=True):
    """The last attempt to send a logout token failed; the client still regards the user as logged in."""

    level = "warning"
    counter = EventCounter(
        "backchannel_logouts_failed", "Logout tokens that could not be delivered; alert on any."
    )
    client_id: str
    session_id: str | None
    attempts: int
    cause: str
