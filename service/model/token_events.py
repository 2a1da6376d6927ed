"""Events of the audit log about authorization requests, tokens and clients."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec


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
    parameter: str | None = None
    """The parameter whose value was refused."""
    value: str | None = None
    """That value, without anything that looks like a credential."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationEnded:
    """An authorization was revoked, with all its tokens."""

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
    parameter: str | None = None
    """The parameter whose value was refused."""
    value: str | None = None
    """That value, without anything that looks like a credential."""


class TokenIntrospected(msgspec.Struct, frozen=True, kw_only=True):
    """A token was introspected (RFC 7662)."""

    caller: str
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRevoked:
    """A client revoked one of its tokens (RFC 7009)."""

    client_id: str
    token_kind: str


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
    """A dynamically registered client changed its metadata (RFC 7592 §2.2)."""

    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientDeleted:
    """A dynamically registered client deleted itself, with its tokens (RFC 7592 §2.3)."""

    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRefused:
    """A registration, or a request about one, was answered with an error."""

    error: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeReplayed:
    """A code was used twice; all tokens issued for it were revoked (RFC 6749 §4.1.2)."""

    client_id: str
    subject: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshTokenReused:
    """A used refresh token was used again; its authorization was revoked (RFC 9700 §4.14.2)."""

    client_id: str
    subject: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionGrantFailed:
    """The handler of an extension grant raised, timed out or returned no valid result."""

    client_id: str
    grant_type: str
    cause: str
