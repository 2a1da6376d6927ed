"""Events for the audit log and the metrics, described in docs/operations/logs.md; none holds a credential."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from service.model.login_failure import LoginFailure
from service.protocol.errors import OAuthError

Emit = Callable[[object], None]
"""Emits an event to all listeners; it never fails and never waits."""

EmitAtOnce = Callable[[object | None, tuple[str, str, int], float], None]
"""Emits that a request was answered, by its endpoint, method and status and its seconds, and the event that led to an answer at once."""

FIRST_LOGGED_STATUS = 400
"""Answered requests with this status or a higher one get a line in the log; others at level debug only."""


class KeyAnnounced(msgspec.Struct, frozen=True, kw_only=True):
    kid: str
    alg: str
    sign_from: int


class KeyRotated(msgspec.Struct, frozen=True, kw_only=True):
    kid: str
    alg: str
    predecessor: str


class KeyRetired(msgspec.Struct, frozen=True, kw_only=True):
    kid: str
    alg: str


class RequestAnswered(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    method: str
    endpoint: str
    """The path of its route, never the path that was sent."""
    status: int
    seconds: float


class RegistryReloaded(msgspec.Struct, frozen=True, kw_only=True):
    generation: str
    changes: tuple[str, ...]
    """Lines as the command `diff` prints them."""
    need_restart: tuple[str, ...]
    """Changed settings that need a restart."""


class RegistryReloadRefused(msgspec.Struct, frozen=True, kw_only=True):
    problems: tuple[str, ...]


class AuthorizationGranted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    client_id: str
    subject: str
    response_type: str
    scope: frozenset[str]
    authorization_details_types: tuple[str, ...] = ()


class AuthorizationRefused(msgspec.Struct, frozen=True, kw_only=True):
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


class DeviceAuthorizationStarted(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    scope: frozenset[str]


class UserCodeRefused(msgspec.Struct, frozen=True, kw_only=True):
    address: str


class AuthorizationEnded(msgspec.Struct, frozen=True, kw_only=True):
    authorization_id: str
    client_id: str
    subject: str | None


class TokenIssued(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    client_id: str
    grant_type: str
    subject: str | None
    scope: tuple[str, ...]
    """Sorted."""
    refreshable: bool
    authorization_details_types: tuple[str, ...] = ()


class TokenRefused(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str | None
    grant_type: str | None
    error: str
    cause: str
    parameter: str | None = None
    value: str | None = None
    """The refused value of the parameter, without anything that looks like a credential."""


class TokenExchangeJudged(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    client_id: str
    rule: str | None
    """The file and line of the rule that decided; None if no rule fits."""
    allowed: bool
    requested_token_type: str
    subject: str | None
    actor: str | None
    """The party that acts for the subject; None if nobody does."""
    scope: frozenset[str]
    audience: tuple[str, ...]
    cause: str | None
    """Why it is refused."""


class TransactionTokenIssued(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    client_id: str
    trust_domain: str
    txn: str
    subject: str
    scope: frozenset[str]
    workloads: str
    """All that have asked for it, the first one first, separated by commas."""


class TokenRevoked(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    token_kind: str


class ClientRefused(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str | None
    endpoint: str
    cause: str


class ClientRegistered(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str


class ClientUpdated(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str


class ClientDeleted(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str


class RegistrationRefused(msgspec.Struct, frozen=True, kw_only=True):
    error: str
    cause: str


class CodeReplayed(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    subject: str | None


class RefreshTokenReused(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    subject: str | None


class AssertionUsed(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    issuer: str
    """The name of the trusted issuer."""
    subject: str
    """The subject that the user has here."""


class AssertionReplayed(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    issuer: str


class ExtensionGrantFailed(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    grant_type: str
    cause: str


class LoginSucceeded(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    username: str
    address: str


class UserDisabled(msgspec.Struct, frozen=True, kw_only=True):
    subject: str


class UserEnabled(msgspec.Struct, frozen=True, kw_only=True):
    subject: str


class PasswordHashReplaced(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    scheme: str
    """The kind of hash that was there before."""


class LoginFailed(msgspec.Struct, frozen=True, kw_only=True):
    username: str
    """The username as typed if an account has it, else only a hash: it may be a password."""
    subject: str | None = None
    """None if no account has the username."""
    address: str
    reason: LoginFailure


class LoginLocked(msgspec.Struct, frozen=True, kw_only=True):
    username: str
    subject: str | None = None
    address: str


class SessionStarted(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    subject: str
    idp: str
    amr: tuple[str, ...]


class SessionEnded(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    subject: str


class ConsentGiven(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    subject: str
    scope: frozenset[str]
    claims: frozenset[str] = frozenset()
    """Claims requested by name, beyond those of the scope."""
    authorization_details_types: tuple[str, ...] = ()
    """The types alone: what an object says may be confidential."""
    remembered: bool


class ConsentDenied(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    subject: str | None
    """None if a request of a device was refused by somebody who has not signed in."""


class ConsentWithdrawn(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    client_id: str


class LoggedOut(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    session_id: str


class BackChannelLogoutDelivered(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    session_id: str
    attempts: int


class BackChannelLogoutPostponed(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    session_id: str
    attempts: int
    cause: str


class BackChannelLogoutFailed(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    session_id: str
    attempts: int
    cause: str
