"""Verifies second factors, whatever their method, and counts wrong ones (NIST SP 800-63B §5.2.2)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.events.event import Emit
from service.events.factors import FactorAccepted, FactorFailure, FactorLocked, FactorRefused
from service.identity.factors.enrolled import EnrolledFactors
from service.identity.factors.guesses import Guesses
from service.identity.factors.methods import FactorAttempt, FactorMethod
from service.identity.factors.notifying import SafeNotifier
from service.identity.factors.recovery_codes import RecoveryCodeMethod
from service.identity.sign_in import Throttle
from service.model.factors import FactorNotice, Factors
from service.model.handle import digest


class SecondFactors(msgspec.Struct, frozen=True, kw_only=True):
    enrolled: EnrolledFactors
    methods: tuple[FactorMethod, ...]
    """The first one that a person has enrolled is asked for first."""
    throttle: Throttle
    """Its counters are not those of passwords: a right password must not clear them."""
    guesses: Guesses
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
        who, address, name = attempt.sub, attempt.address, method.name
        is_judged, lock = await self._take(method, attempt)
        amr = await method.verify(attempt) if is_judged else None
        if amr is not None:
            await self.throttle.give_back(digest(who), address)
            await self.guesses.forget(who)
            self.emit(FactorAccepted(subject=who, method=name, address=address))
            if (
                name == RecoveryCodeMethod.name
            ):  # which its owner needs rarely, and a thief has found
                notice = FactorNotice(subject=who, change="recovery_code_used", method=name)
                await self.notifier.notify(notice)
            return amr
        reason: FactorFailure = "wrong" if is_judged else "locked"
        self.emit(FactorRefused(subject=who, method=name, address=address, reason=reason))
        if lock:
            self.emit(FactorLocked(subject=who, address=address, seconds=lock))
            locked = FactorNotice(subject=who, change="factor_locked", method=name)
            await self.notifier.notify(locked)
        return None

    async def _take(self, method: FactorMethod, attempt: FactorAttempt) -> tuple[bool, int]:
        """Count an attempt; return whether it may be judged, and the seconds for which it locks if it is wrong."""
        account, address = digest(attempt.sub), attempt.address
        left = await self.throttle.take_attempt(account, address)
        lock = 0 if left else self.throttle.limits.lockout
        if left < 0 or not method.can_be_guessed:
            return left >= 0, lock
        count = await self.guesses.take(attempt.sub)
        if count == 0:  # a lock of the account shall not go on as one of the address
            await self.throttle.give_back(account, address)
            return False, 0
        return True, max(lock, self.guesses.find_lock(count))
