"""Events of the audit log about people: logins, sessions, consents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LoginFailure = Literal["malformed", "unknown", "wrong_password", "disabled", "locked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginSucceeded:
    """A person signed in with a password."""

    subject: str
    username: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginFailed:
    """A login with a password failed; only the audit log says why."""

    username: str
    """The username as typed if an account has it, else only a hash: it may be a password."""
    address: str
    reason: LoginFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginLocked:
    """After too many failures even the right password is refused for a while."""

    username: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSignInSucceeded:
    """A person signed in at an identity provider."""

    provider: str
    subject: str
    """The subject that this service gives to the provider's user."""
    amr: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSignInFailed:
    """A sign-in at an identity provider failed: no answer, an error, or an invalid ID token."""

    provider: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted:
    """A session began, or its user signed in again."""

    session_id: str
    subject: str
    idp: str
    amr: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """A user or an operator ended a session before it expired."""

    session_id: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentGiven:
    """A user gave a client consent."""

    client_id: str
    subject: str
    scope: frozenset[str]
    claims: frozenset[str] = frozenset()
    """Claims requested by name, beyond those of the scope."""
    remembered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentDenied:
    """A user denied a client consent."""

    client_id: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentWithdrawn:
    """A user withdrew a remembered consent."""

    subject: str
    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedOut:
    """A user signed out."""

    subject: str
    session_id: str
