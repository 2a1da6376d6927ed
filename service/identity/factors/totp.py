"""Codes of an app, each of which counts once (RFC 6238)."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from typing import ClassVar

import msgspec
from msgspec.structs import replace
from pyotp import random_base32
from pyotp.totp import TOTP

from service.clock import clock
from service.identity.factors.enrolment import Owner
from service.identity.factors.methods import Asked, FactorAttempt
from service.identity.factors.stored import EnrolledFactors
from service.keys.sealing import Seal, Unreadable
from service.model.factors import Factors, Totp
from service.protocol.params import Params

STEP = 30
"""Seconds for which one code is shown."""

DRIFT = 1
"""Steps by which the clock of a phone may be wrong, in both directions (RFC 6238 §6)."""

ENROLMENT = 15 * 60
"""Seconds for which a secret that was shown can be confirmed by its first code."""

AMR = "otp"
_DIGITS = 6
_SEPARATORS = re.compile(r"[\s\u200e\u200f\u2010-\u2015\u2212-]+")
"""Spaces and hyphens of all kinds, and marks of the text direction, which are copied with the digits."""


class TotpMethod(msgspec.Struct, frozen=True):
    name: ClassVar[str] = "otp"
    can_be_guessed: ClassVar[bool] = True
    enrolled: EnrolledFactors

    def find_amr(self, factors: Factors) -> frozenset[str]:
        return frozenset({AMR}) if factors.totp else frozenset()

    async def prepare(self, sub: str, asked: Asked) -> Mapping[str, object]:
        return {}

    async def verify(self, attempt: FactorAttempt) -> tuple[str, ...] | None:
        code, now = attempt.params.get("otp") or "", clock()
        used = await self.enrolled.change(attempt.sub, lambda factors: use_code(factors, code, now))
        return (AMR,) if used else None


class PendingTotp(msgspec.Struct, frozen=True, kw_only=True):
    """A secret that is shown to a person and not stored yet; it travels sealed through the form."""

    sub: str
    secret: str
    expires_at: int


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(PendingTotp).decode


class TotpEnrolment(msgspec.Struct, frozen=True, kw_only=True):
    """A person has one app at most; the secret can be scanned by several phones."""

    name: ClassVar[str] = TotpMethod.name
    amr: ClassVar[tuple[frozenset[str], ...]] = (frozenset({AMR}),)
    enrolled: EnrolledFactors
    seal: Seal
    host: str
    """The name of this service in the app."""

    def can_add(self, factors: Factors) -> bool:
        return factors.totp is None

    async def prepare(self, owner: Owner, params: Params, asked: Asked) -> Mapping[str, object]:
        """After a wrong code it is the same secret, so that the app need not be set up again."""
        import segno  # noqa: PLC0415 - for the few requests that show a QR code

        shown = self._open(owner.sub, params)
        secret = shown.secret if shown else random_base32()
        uri = TOTP(secret, digits=_DIGITS, interval=STEP).provisioning_uri(
            name=owner.username or owner.sub, issuer_name=self.host
        )
        pending = PendingTotp(sub=owner.sub, secret=secret, expires_at=clock() + ENROLMENT)
        svg = segno.make(uri, error="m").svg_inline(border=4, light="#fff", omitsize=True)
        return {
            "secret": " ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
            "uri": uri,
            "qr": svg,
            "sealed": self.seal.seal_text(_encode(pending).decode()),
        }

    async def add(self, attempt: FactorAttempt, *, name: str) -> tuple[str, ...] | None:
        pending = self._open(attempt.sub, attempt.params)
        if pending is None:
            return None
        step = find_step(pending.secret, attempt.params.get("otp") or "", clock())
        if step is None:
            return None
        totp = new_totp(pending.secret, name, step)
        stored = await self.enrolled.change(
            attempt.sub, lambda factors: None if factors.totp else replace(factors, totp=totp)
        )
        return (AMR,) if stored else None

    async def remove(self, sub: str, factor_id: str) -> bool:
        def without(factors: Factors) -> Factors | None:
            return None if factors.totp is None else replace(factors, totp=None)

        return factor_id == Totp.id and await self.enrolled.change(sub, without) is not None

    def _open(self, sub: str, params: Params) -> PendingTotp | None:
        """Return the secret that this service has shown to this person within the last minutes."""
        try:
            pending = _decode(self.seal.open_text(params.get("enrolment") or ""))
        except (Unreadable, msgspec.DecodeError):
            return None
        return pending if pending.sub == sub and clock() < pending.expires_at else None


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
    digits = read_digits(code)
    if len(digits) != _DIGITS:
        return None
    totp, found = TOTP(secret, digits=_DIGITS, interval=STEP), None
    for step in range(now // STEP - DRIFT, now // STEP + DRIFT + 1):
        if hmac.compare_digest(totp.generate_otp(step), digits):
            found = step
    return found


def read_digits(code: str) -> str:
    """Return the digits of a code that was typed or pasted, with any separators and in the digits of any script; none of other text."""
    plain = _SEPARATORS.sub("", code)
    return "".join(str(int(digit)) for digit in plain) if plain.isdecimal() else ""


def new_totp(secret: str, name: str, step: int) -> Totp:
    """Return the app after the code that has shown that it has the secret."""
    now = clock()
    return Totp(secret=secret, name=name, created_at=now, last_used=now, last_step=step)
