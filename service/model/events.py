"""What happens that an auditor, a metric or a trace may want to know of; never with a credential inside."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

import msgspec

Emit = Callable[[object], None]
"""Where a use case tells what happened; it never fails and never waits."""

current_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The request in which it happened; None outside of any."""

LoginFailure = Literal["malformed", "unknown", "wrong_password", "disabled", "locked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAnnounced:
    """A new signing key is published, and signs from `sign_from` on."""

    kid: str
    alg: str
    sign_from: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRotated:
    """A signing key signs in place of its predecessor."""

    kid: str
    alg: str
    predecessor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRetired:
    """A signing key has stopped signing; it is published until no token of its can be alive."""

    kid: str
    alg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginSucceeded:
    """A person proved with a password who it is."""

    subject: str
    username: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginFailed:
    """Somebody did not; the reason is for the audit log alone."""

    username: str
    """As typed where an account has that name, else only a hash: it may be a password."""
    address: str
    reason: LoginFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginLocked:
    """That was one failure too many: for a while, even the right password is refused."""

    username: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSignInSucceeded:
    """An identity provider vouched for a person."""

    provider: str
    subject: str
    """The subject of our own that stands for the provider's user."""
    amr: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSignInFailed:
    """An identity provider did not: it was away, said no, or said what does not hold."""

    provider: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted:
    """A session began, or somebody signed in again within it."""

    session_id: str
    subject: str
    idp: str
    amr: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """A session was ended by a person or an operator, not by time."""

    session_id: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentWithdrawn:
    """A person took a remembered consent back."""

    subject: str
    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationEnded:
    """A grant was taken back, with all tokens that came from it."""

    authorization_id: str
    client_id: str
    subject: str | None


class TokenIssued(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens were issued."""

    client_id: str
    grant_type: str
    subject: str | None
    scope: frozenset[str]
    refreshable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRefused:
    """A token request was answered with an error."""

    client_id: str | None
    grant_type: str | None
    error: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRefused:
    """A client or API resource did not authenticate."""

    client_id: str | None
    endpoint: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRegistered:
    """A client registered itself (RFC 7591)."""

    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientUpdated:
    """A registered client changed its metadata (RFC 7592 §2.2)."""

    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientDeleted:
    """A registered client deleted itself, and so ended its tokens (RFC 7592 §2.3)."""

    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRefused:
    """A registration, or a request about one, was answered with an error."""

    error: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeReplayed:
    """A code came a second time; everything that came from it was revoked (RFC 6749 §4.1.2)."""

    client_id: str
    subject: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshTokenReused:
    """A spent refresh token came again; its family was ended (RFC 9700 §4.14.2)."""

    client_id: str
    subject: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionGrantFailed:
    """A handler raised, timed out or gave no proper result; the request failed closed."""

    client_id: str
    grant_type: str
    cause: str


class TokenIntrospected(msgspec.Struct, frozen=True, kw_only=True):
    """A caller asked about a token."""

    caller: str
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRevoked:
    """A client revoked a token of its own (RFC 7009)."""

    client_id: str
    token_kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationGranted:
    """An authorization request was granted."""

    client_id: str
    subject: str
    response_type: str
    scope: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRefused:
    """An authorization request was answered with an error, on a page or at the client."""

    client_id: str | None
    error: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentGiven:
    """A person allowed a client something."""

    client_id: str
    subject: str
    scope: frozenset[str]
    claims: frozenset[str] = frozenset()
    """Asked for by name, beyond those that the scope stands for."""
    remembered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentDenied:
    """A person refused a client."""

    client_id: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedOut:
    """A session was ended by its person."""

    subject: str
    session_id: str


class RequestAnswered(msgspec.Struct, frozen=True, kw_only=True):
    """A request was answered; the endpoint is its route's path, never the path that was sent."""

    method: str
    endpoint: str
    status: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryReloaded:
    """Another registry is in force; each change is one line that `diff` would print."""

    generation: str
    changes: tuple[str, ...]
    need_restart: tuple[str, ...]
    """The settings that differ in the file and stay as they were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryReloadRefused:
    """The file has errors; the registry in force stays, whole."""

    problems: tuple[str, ...]
