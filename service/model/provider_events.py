"""Events of sign-ins and logouts at identity providers, for the audit log and the metrics; none holds a credential."""

from __future__ import annotations

import msgspec


class ProviderSignInSucceeded(msgspec.Struct, frozen=True, kw_only=True):
    provider: str
    subject: str
    """The subject that this service gives to the provider's user."""
    amr: tuple[str, ...]


class ProviderSignInFailed(msgspec.Struct, frozen=True, kw_only=True):
    provider: str
    subject: str | None = None
    """Ours for the provider's user; None if it vouched for nobody."""
    cause: str


class ProviderLogoutReceived(msgspec.Struct, frozen=True, kw_only=True):
    provider: str
    sessions: int
    """The sessions here that have ended with it."""


class ProviderLogoutRefused(msgspec.Struct, frozen=True, kw_only=True):
    provider: str
    cause: str
