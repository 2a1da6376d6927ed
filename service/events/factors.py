"""Events of second factors and passkeys."""

from __future__ import annotations

from typing import Literal

from service.events.event import Event, EventCounter

FactorFailure = Literal["wrong", "locked"]
PasskeyRefusal = Literal["malformed", "expired", "unknown", "unverified", "counter", "locked"]


class FactorEnrolled(Event, frozen=True, kw_only=True):
    """A user added a second factor: `otp` or `passkey` (docs/second-factors.md); `address` is `null` where the operator did (`factors load`)."""

    counter = EventCounter("factors_enrolled", "Second factors added.", ("method",))
    subject: str
    method: str
    address: str | None


class FactorRemoved(Event, frozen=True, kw_only=True):
    """A user removed a second factor; `address` is `null` where the operator did (`users reset-factors`)."""

    counter = EventCounter("factors_removed", "Second factors removed.", ("method",))
    subject: str
    method: str
    address: str | None


class FactorRenamed(Event, frozen=True, kw_only=True):
    """A user gave a factor another name, which may hold anything and is not logged."""

    subject: str
    method: str
    address: str


class RecoveryCodesRenewed(Event, frozen=True, kw_only=True):
    """A user got new recovery codes; the old ones are invalid."""

    subject: str
    address: str


class UserNotifierFailed(Event, frozen=True, kw_only=True):
    """The `users.notifier` failed or took too long; the change that it should have reported was made."""

    level = "warning"
    counter = EventCounter("user_notifier_failures", "Failed calls of `users.notifier`.")
    subject: str
    change: str
    cause: str


class FactorAccepted(Event, frozen=True, kw_only=True):
    """A user authenticated with a second factor: `otp`, `recovery_code` or `passkey`."""

    counter = EventCounter("second_factors", "Second factors that were accepted.", ("method",))
    subject: str
    method: str
    address: str


class FactorRefused(Event, frozen=True, kw_only=True):
    """After the right first factor, a second factor was refused: `wrong`, which includes a replayed code, or `locked`."""

    counter = EventCounter(
        "second_factor_failures",
        "Wrong second factors; many are guesses after a right password.",
        ("method",),
    )
    subject: str
    method: str
    address: str
    reason: FactorFailure


class FactorLocked(Event, frozen=True, kw_only=True):
    """Too many second factors were wrong, perhaps sent by an attacker with the password.

    At this address or everywhere, even right ones are refused for these seconds, which grow
    (docs/second-factors.md#guessing).
    """

    level = "warning"
    counter = EventCounter("second_factor_lockouts", "Lockouts after wrong second factors.")
    subject: str
    address: str
    seconds: int


class PasskeySignInSucceeded(Event, frozen=True, kw_only=True):
    """A user authenticated with a passkey alone."""

    counter = EventCounter("passkey_logins", "Logins by a passkey alone.")
    subject: str
    username: str
    address: str


class PasskeyRejected(Event, frozen=True, kw_only=True):
    """A passkey was refused.

    `reason` is `malformed`, `expired` (its page was open for too long, or the answer came twice), `unknown` (it was removed,
    or its user is disabled), `unverified` (the cause says what was wrong), `locked` (too many failures) or `counter`: the
    authenticator's counter has gone back, as that of a copied key would. `subject` is the user to whom the passkey belongs,
    as far as is known; the passkey does not prove it.
    """

    webhooks = "name"
    counter = EventCounter(
        "passkey_refusals", "Passkeys that were refused, alone or as a second factor."
    )
    subject: str | None
    address: str
    reason: PasskeyRefusal
    cause: str
