"""Events of authorization requests, at the authorization endpoint and of devices, and of users' consent."""

from __future__ import annotations

from service.events.event import Event, EventCounter
from service.protocol.errors import OAuthError


class AuthorizationGranted(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An authorization request was granted; `authorization_details_types` as in `token_issued`."""

    counter = EventCounter("authorizations", "Granted authorization requests.")
    client_id: str
    subject: str
    response_type: str
    scope: frozenset[str]
    authorization_details_types: tuple[str, ...] = ()


class AuthorizationRefused(Event, frozen=True, kw_only=True):
    """An authorization request was answered with an error, at the client or on an error page.

    `client_id` is `null` if the request names no registered client; `parameter` and `value`:
    docs/operations/logs.md#refused-values.
    """

    webhooks = "name"
    counter = EventCounter("authorization_refusals", "Refused authorization requests.", ("error",))
    client_id: str | None
    error: str
    cause: str
    parameter: str | None = None
    value: str | None = None
    """The refused value of the parameter, without anything that looks like a credential."""

    @classmethod
    def by(cls, error: OAuthError, client_id: str | None) -> AuthorizationRefused:
        """Take from the error what the log may know."""
        return cls(
            client_id=client_id,
            error=error.code,
            cause=error.description,
            parameter=error.refused.parameter,
            value=error.refused.shown,
        )


class AuthorizationEnded(Event, frozen=True, kw_only=True):
    """A grant was revoked, with all its tokens."""

    counter = EventCounter("authorizations_ended", "Grants revoked.")
    authorization_id: str
    client_id: str
    subject: str | None


class DeviceAuthorizationStarted(Event, frozen=True, kw_only=True):
    """A device got its codes (RFC 8628)."""

    webhooks = "name"
    counter = EventCounter("device_authorizations", "Device codes issued.")
    client_id: str
    scope: frozenset[str]


class UserCodeRefused(Event, frozen=True, kw_only=True):
    """A user entered a user code that no device waits for."""

    webhooks = "name"
    counter = EventCounter("user_code_failures", "Unknown user codes of devices; many are guesses.")
    address: str


class ConsentGiven(Event, frozen=True, kw_only=True):
    """A user gave a client consent.

    `claims` are claims requested by name, beyond those of the scope; of `authorization_details` only the types are logged,
    because their content may be confidential.
    """

    client_id: str
    subject: str
    scope: frozenset[str]
    claims: frozenset[str] = frozenset()
    authorization_details_types: tuple[str, ...] = ()
    remembered: bool


class ConsentDenied(Event, frozen=True, kw_only=True):
    """A user refused a client; `subject` is `null` if a user without a session refused the request of a device."""

    client_id: str
    subject: str | None


class ConsentWithdrawn(Event, frozen=True, kw_only=True):
    """A user withdrew a remembered consent."""

    subject: str
    client_id: str
