"""Passkeys as a second factor (WebAuthn Level 3 §7.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from service.identity.factors.enrolled import EnrolledFactors
from service.identity.factors.methods import FactorAttempt
from service.identity.passkeys import Answer, Asking, PasskeyRefused, Passkeys
from service.model.events import Emit
from service.model.factors import Factors, Passkey
from service.model.passkey_events import PasskeyRejected


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedPasskeys:
    """Verifies uses of the passkeys that users have, each of which counts once over all replicas."""

    passkeys: Passkeys
    enrolled: EnrolledFactors

    async def use(self, sub: str, answer: Answer, *, alone: bool) -> Passkey:
        """Return the passkey of this user that has answered, or raise PasskeyRefused."""

        def verify(factors: Factors) -> Factors:
            known = {one.credential_id: one for one in factors.passkeys}
            passkey = known.get(answer.unverified_credential_id)
            if passkey is None:
                raise PasskeyRefused("unknown", "the user has no such passkey")
            used = self.passkeys.verify(answer, passkey, alone=alone)
            known[used.credential_id] = used
            return replace(factors, passkeys=tuple(known.values()))

        factors = await self.enrolled.change(sub, verify) or Factors()
        name = answer.unverified_credential_id
        return next(one for one in factors.passkeys if one.credential_id == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyMethod:
    name: ClassVar[str] = "passkey"
    used: UsedPasskeys
    emit: Emit

    def find_amr(self, factors: Factors) -> frozenset[str]:
        return frozenset(amr for passkey in factors.passkeys for amr in passkey.amr)

    async def prepare(self, sub: str, *, browser: str) -> Mapping[str, object]:
        factors = await self.used.enrolled.find(sub)
        asking = _asking(sub, browser)
        return {"options": await self.used.passkeys.ask(asking, among=factors.passkeys)}

    async def verify(self, attempt: FactorAttempt) -> tuple[str, ...] | None:
        response = attempt.params.get("passkey") or ""
        try:
            asking = _asking(attempt.sub, attempt.browser)
            answer = await self.used.passkeys.open(asking, response)
            return (await self.used.use(attempt.sub, answer, alone=False)).amr
        except PasskeyRefused as refused:
            self.emit(
                PasskeyRejected(
                    subject=attempt.sub, address=None, reason=refused.reason, cause=str(refused)
                )
            )
            return None


def _asking(sub: str, browser: str) -> Asking:
    return Asking(purpose="second factor", browser=browser, subject=sub)
