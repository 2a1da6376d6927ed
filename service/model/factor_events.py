"""Events about second factors, described in docs/operations/logs.md; none holds a credential."""

from __future__ import annotations

from typing import Literal

import msgspec

FactorFailure = Literal["wrong", "locked"]


class FactorEnrolled(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    method: str
    """otp, or passkey."""
    address: str


class FactorRemoved(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    method: str
    address: str | None
    """None: the operator removed it, by `users reset-factors`."""


class FactorRenamed(msgspec.Struct, frozen=True, kw_only=True):
    """A user gave a factor another name, which may hold anything and is not told."""

    subject: str
    method: str
    address: str


class RecoveryCodesRenewed(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    address: str


class UserNotifierFailed(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    change: str
    """Of what the user was to be told."""
    cause: str


class FactorAccepted(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    method: str
    """otp, recovery_code, or passkey."""
    address: str


class FactorRefused(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    method: str
    address: str
    reason: FactorFailure


class FactorLocked(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    address: str
    seconds: int
    """For which the second factors are refused, at this address or everywhere."""
