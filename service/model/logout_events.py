"""What becomes of telling clients that a session has ended, for the audit log and the metrics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BackChannelLogoutDelivered:
    """A client was told that a session has ended, and has understood (OIDC Back-Channel Logout §2.8)."""

    client_id: str
    session_id: str
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BackChannelLogoutPostponed:
    """A client was told and has not understood, or could not be told; it will be, once more."""

    client_id: str
    session_id: str
    attempts: int
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackChannelLogoutFailed:
    """That was the last attempt: the client still takes the person for signed in."""

    client_id: str
    session_id: str
    attempts: int
    cause: str
