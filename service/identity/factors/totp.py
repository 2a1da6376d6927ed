"""Codes of an app, each of which counts once (RFC 6238)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import pyotp

from service.clock import clock
from service.identity.factors.enrolled import EnrolledFactors
from service.identity.factors.methods import FactorAttempt
from service.model.factors import Factors, Totp

STEP = 30
"""Seconds for which one code is shown."""

DRIFT = 1
"""Steps by which the clock of a phone may be wrong, in both directions (RFC 6238 §6)."""

AMR = "otp"
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class TotpMethod:
    name: ClassVar[str] = "otp"
    enrolled: EnrolledFactors

    def find_amr(self, factors: Factors) -> frozenset[str]:
        return frozenset({AMR}) if factors.totp else frozenset()

    async def prepare(self, sub: str, *, browser: str) -> Mapping[str, object]:
        return {}

    async def verify(self, attempt: FactorAttempt) -> tuple[str, ...] | None:
        code, now = attempt.params.get("otp") or "", clock()
        used = await self.enrolled.change(attempt.sub, lambda factors: use_code(factors, code, now))
        return (AMR,) if used else None


def use_code(factors: Factors, code: str, now: int) -> Factors | None:
    """Return the factors after a right code; None for a wrong one, and for one of a step that was accepted before."""
    if factors.totp is None:
        return None
    step = find_step(factors.totp.secret, code, now)
    if step is None or step <= factors.totp.last_step:
        return None
    return replace(factors, totp=replace(factors.totp, last_step=step, last_used=now))


def find_step(secret: str, code: str, now: int) -> int | None:
    """Return the time step whose code this is, compared in constant time; None for a wrong code."""
    digits = "".join(code.split())
    if len(digits) != _DIGITS or not (digits.isascii() and digits.isdigit()):
        return None
    totp, found = pyotp.TOTP(secret, digits=_DIGITS, interval=STEP), None
    for step in range(now // STEP - DRIFT, now // STEP + DRIFT + 1):
        if pyotp.utils.strings_equal(totp.generate_otp(step), digits):
            found = step
    return found


def new_totp(secret: str, name: str, step: int) -> Totp:
    """Return the app after the code that has shown that it has the secret."""
    now = clock()
    return Totp(secret=secret, name=name, created_at=now, last_used=now, last_step=step)
