"""Events of logins and logouts at identity providers."""

from __future__ import annotations

from service.events.event import Event, EventCounter


class ProviderSignInSucceeded(Event, frozen=True, kw_only=True):
    """A user signed in at an identity provider; `subject` is the one that the user has here."""

    provider: str
    subject: str
    amr: tuple[str, ...]


class ProviderSignInFailed(Event, frozen=True, kw_only=True):
    """A sign-in at an identity provider failed.

    The provider was unavailable, refused, or sent an invalid response, and `subject` is `null`; or its user, with this `subject`
    here, is not admitted.
    """

    webhooks = "name"
    counter = EventCounter(
        "provider_sign_in_failures", "Failed sign-ins at providers; the audit log has the cause."
    )
    provider: str
    subject: str | None = None
    cause: str


class ProviderLogoutReceived(Event, frozen=True, kw_only=True):
    """A user logged out at an identity provider, and that many sessions ended here."""

    counter = EventCounter("provider_logouts", "Logout tokens of providers that were accepted.")
    provider: str
    sessions: int


class ProviderLogoutRefused(Event, frozen=True, kw_only=True):
    """A logout token of an identity provider was invalid, was replayed, or could not be verified."""

    webhooks = "name"
    counter = EventCounter(
        "provider_logout_refusals", "Refused logout tokens; the audit log has the cause."
    )
    provider: str
    cause: str
