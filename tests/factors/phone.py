"""A person's phone: an authenticator app, and a sheet of paper with recovery codes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyotp
from msgspec.structs import replace

from service.identity.factors.recovery_codes import hash_code, new_codes
from service.identity.factors.totp import STEP
from service.model.factors import Factors, Totp
from tests.driving.service import RunningService

ALICE = "818727"


@dataclass
class Phone:
    """Shows a code of its own each time that it is asked, as after a wait."""

    secret: str = field(default_factory=pyotp.random_base32)
    recovery_codes: Sequence[str] = field(default_factory=new_codes)
    steps: list[int] = field(default_factory=list[int])

    def code(self, *, steps_ahead: int = 0) -> str:
        """The code that it shows now, or in some time steps."""
        return pyotp.TOTP(self.secret).generate_otp(int(time.time()) // STEP + steps_ahead)

    def wrong_code(self) -> str:
        """One that it does not show for some minutes."""
        shown = {self.code(steps_ahead=ahead) for ahead in range(-9, 10)}
        return next(code for code in (f"{n:06}" for n in range(1000)) if code not in shown)

    async def enrol(self, service: RunningService, sub: str = ALICE) -> None:
        """Let the person have it, as after the enrolment long ago."""
        totp = Totp(secret=self.secret, name="Phone", created_at=0)
        hashes = tuple(map(hash_code, self.recovery_codes))

        def add(factors: Factors) -> Factors:
            return replace(factors, totp=totp, recovery_codes=hashes)

        assert await service.features.shared.factors.change(sub, add)
