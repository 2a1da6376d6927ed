"""Verifies second factors, whatever their method, and counts wrong ones (NIST SP 800-63B §5.2.2)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.identity.factors.enrolled import EnrolledFactors
from service.identity.factors.methods import FactorAttempt, FactorMethod
from service.identity.factors.notifying import SafeNotifier
from service.identity.factors.recovery_codes import RecoveryCodeMethod
from service.identity.sign_in import Throttle
from service.model.events import Emit
from service.model.factor_events import (
    FactorAccepted,
    FactorFailure,
    FactorLocked,
    FactorRefused,
)
from service.model.factors import FactorNotice, Factors
from service.model.handle import digest


class SecondFactors(msgspec.Struct, frozen=True, kw_only=True):
    enrolled: EnrolledFactors
    methods: tuple[FactorMethod, ...]
    """The first one that a person has enrolled is asked for first."""
    throttle: Throttle
    """Its counters are not those of passwords: a right password must not clear them."""
    notifier: SafeNotifier
    emit: Emit

    def find_offered(self, factors: Factors) -> Mapping[str, frozenset[str]]:
        """Return the names of the methods that a person can use, with the `amr` that each can add."""
        found = {method.name: method.find_amr(factors) for method in self.methods}
        return {name: amr for name, amr in found.items() if amr}

    def find_method(self, name: str) -> FactorMethod | None:
        return next((method for method in self.methods if method.name == name), None)

    async def verify(self, method: FactorMethod, attempt: FactorAttempt) -> tuple[str, ...] | None:
        """Return the `amr` of a right proof; None for a wrong one, and for any while there were too many.

        The attempt is counted before it is judged, so that a burst cannot outrun the counters.
        """
        account, address = digest(attempt.sub), attempt.address
        left = await self.throttle.take_attempt(account, address)
        amr = await method.verify(attempt) if left >= 0 else None
        who, name = attempt.sub, method.name
        if amr is not None:
            await self.throttle.give_back(account, address)
            self.emit(FactorAccepted(subject=who, method=name, address=address))
            if (
                name == RecoveryCodeMethod.name
            ):  # which its owner needs rarely, and a thief has found
                notice = FactorNotice(subject=who, change="recovery_code_used", method=name)
                await self.notifier.notify(notice)
            return amr
        reason: FactorFailure = "wrong" if left >= 0 else "locked"
        self.emit(FactorRefused(subject=who, method=name, address=address, reason=reason))
        if left == 0:
            self.emit(FactorLocked(subject=who, address=address))
        return None
