"""Ten codes for the loss of the other factors, each of which counts once (NIST SP 800-63B §5.1.2)."""

from __future__ import annotations

import hmac
import secrets
from base64 import b32encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from service.identity.factors.methods import Asked, FactorAttempt
from service.identity.factors.stored import EnrolledFactors
from service.model.factors import Factors

HOW_MANY = 10

AMR = "otp"
_BYTES = 10
"""80 bits: a hash of that needs no salt and no stretching."""
_GROUP = 4


class RecoveryCodeMethod(msgspec.Struct, frozen=True):
    name: ClassVar[str] = "recovery_code"
    can_be_guessed: ClassVar[bool] = True
    enrolled: EnrolledFactors

    def find_amr(self, factors: Factors) -> frozenset[str]:
        return frozenset({AMR}) if factors.recovery_codes else frozenset()

    async def prepare(self, sub: str, asked: Asked) -> Mapping[str, object]:
        return {}

    async def verify(self, attempt: FactorAttempt) -> tuple[str, ...] | None:
        hashed = hash_code(attempt.params.get("recovery_code") or "")
        used = await self.enrolled.change(attempt.sub, lambda factors: _use(factors, hashed))
        return (AMR,) if used else None


def new_codes() -> Sequence[str]:
    """Return ten codes as the person is shown them, once."""
    return [
        _group(b32encode(secrets.token_bytes(_BYTES)).decode().lower()) for _ in range(HOW_MANY)
    ]


def hash_code(code: str) -> str:
    """Return the hash by which a code is stored, whatever its case and its separators."""
    plain = "".join(code.split()).replace("-", "").lower()
    return sha256(plain.encode(errors="replace")).hexdigest()


def _group(code: str) -> str:
    return "-".join(code[at : at + _GROUP] for at in range(0, len(code), _GROUP))


def _use(factors: Factors, hashed: str) -> Factors | None:
    """Return the factors without this code; None if it is not among them."""
    matches = [hmac.compare_digest(hashed, one) for one in factors.recovery_codes]
    if not any(matches):
        return None
    left = [one for one, used in zip(factors.recovery_codes, matches, strict=True) if not used]
    return replace(factors, recovery_codes=tuple(left))
