"""Stores second factors of another server next to those that people have here, and counts what is stored."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec
from msgspec.structs import replace

from service.events.event import Emit
from service.events.factors import FactorEnrolled
from service.identity.factors.passkeys import MAX_PASSKEYS, PasskeyMethod
from service.identity.factors.stored import EnrolledFactors, PasskeyOwners
from service.identity.factors.totp import TotpMethod
from service.model.factors import Factors, Passkey, Totp
from service.takeover.factors_file import LoadedUser

Outcome = Literal["added", "replaced", "unchanged", "kept"]
"""`kept`: another factor has its place, which was enrolled here, or is another user's."""

OUTCOMES: tuple[Outcome, ...] = ("added", "replaced", "unchanged", "kept")
METHODS = (TotpMethod.name, PasskeyMethod.name)

Tally = Counter[tuple[str, Outcome]]
"""How many factors of each method had each outcome."""


class FactorLoading(msgspec.Struct, frozen=True, kw_only=True):
    """Loading the same again changes nothing: neither a counter nor the step of the last code goes back."""

    enrolled: EnrolledFactors
    owners: PasskeyOwners
    replaces: bool
    """Whether factors that were enrolled here make room for those that are loaded."""
    emit: Emit

    async def load(self, user: LoadedUser) -> Tally:
        """Store the factors of a user; return what became of each."""
        ours = [one for one in user.passkeys if await self._claim(one, user.sub)]
        foreign = len(user.passkeys) - len(ours)
        tally = Tally()

        def add(before: Factors) -> Factors | None:
            tally.clear()
            totp = self._choose_totp(before.totp, user.totp, tally)
            passkeys = self._choose_passkeys(before.passkeys, ours, tally)
            after = replace(before, totp=totp, passkeys=passkeys)
            return None if after == before else after

        await self.enrolled.change(user.sub, add)
        for method in METHODS:
            for _ in range(tally[method, "added"] + tally[method, "replaced"]):
                self.emit(FactorEnrolled(subject=user.sub, method=method, address=None))
        tally[PasskeyMethod.name, "kept"] += foreign
        return tally

    async def _claim(self, passkey: Passkey, sub: str) -> bool:
        return await self.owners.claim(passkey.credential_id, sub)

    def _choose_totp(self, before: Totp | None, loaded: Totp | None, tally: Tally) -> Totp | None:
        if loaded is None:
            return before
        outcome = self._judge(None if before is None else before.secret, loaded.secret)
        tally[TotpMethod.name, outcome] += 1
        return loaded if outcome in {"added", "replaced"} else before

    def _choose_passkeys(
        self, before: tuple[Passkey, ...], loaded: list[Passkey], tally: Tally
    ) -> tuple[Passkey, ...]:
        after = {one.credential_id: one for one in before}
        for one in loaded:
            known = after.get(one.credential_id)
            outcome = self._judge(None if known is None else known.public_key, one.public_key)
            if outcome == "added" and len(after) >= MAX_PASSKEYS:
                outcome = "kept"
            if outcome in {"added", "replaced"}:
                after[one.credential_id] = one
            tally[PasskeyMethod.name, outcome] += 1
        return tuple(after.values())

    def _judge(self, before: str | None, loaded: str) -> Outcome:
        if before is None:
            return "added"
        if before == loaded:
            return "unchanged"
        return "replaced" if self.replaces else "kept"
