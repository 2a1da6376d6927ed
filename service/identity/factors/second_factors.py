"""Decides who needs a second factor, verifies it whatever its method, and counts wrong ones (NIST SP 800-63B §5.2.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import cast

import msgspec
import structlog

from service.config import plugins
from service.events.event import Emit
from service.events.factors import (
    FactorAccepted,
    FactorFailure,
    FactorLocked,
    FactorRefused,
    UserNotifierFailed,
)
from service.identity.factors.guesses import Guesses
from service.identity.factors.methods import MFA, FactorAttempt, FactorMethod
from service.identity.factors.recovery_codes import RecoveryCodeMethod
from service.identity.factors.stored import EnrolledFactors
from service.identity.throttle import Throttle
from service.model.authentication_context import RequiredFactor
from service.model.client import Client
from service.model.factors import FactorNotice, Factors, UserNotifier
from service.model.handle import digest
from service.model.registry import Registry

log = structlog.stdlib.get_logger(__name__)

NOTIFIER_SECONDS = 10
"""Seconds that a notifier may take; the person's page waits as long."""


def find_requirement(registry: Registry, client: Client | None) -> RequiredFactor:
    """Return who needs a second factor at this client, or, without one, for the own account.

    At the own account everybody with a second factor needs it: the password alone would be enough to add a
    factor there, or to remove them all.
    """
    if client is not None:
        return client.mfa_required or registry.mfa.required
    return "enrolled" if registry.mfa.required == "never" else registry.mfa.required


def lacks_second_factor(
    methods: Collection[str], factors: Factors, registry: Registry, client: Client | None
) -> bool:
    """Return whether a sign-in by these methods at the client, or the own account, has to be completed by a second factor."""
    requirement = find_requirement(registry, client)
    if MFA in methods or requirement == "never":
        return False
    return requirement == "always" or factors.is_enrolled


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
            await self.throttle.give_back(digest(who), address, self.guesses.drop(who))
            self.emit(FactorAccepted(subject=who, method=name, address=address))
            if name == RecoveryCodeMethod.name:  # its owner needs it rarely; a thief has found it
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


def open_user_notifier(name: str | None) -> UserNotifier | None:
    """Return the operator's notifier, made once without arguments; None without a name. Raise CannotServe if that fails."""
    if name is None:
        return None
    return cast("UserNotifier", plugins.make_plugin(name, ("users", "notifier"), plugins.NOTIFIER))


class SafeNotifier(msgspec.Struct, frozen=True):
    """Tells users of changes to their second factors; a notifier that fails never fails the request."""

    notifier: UserNotifier | None
    emit: Emit

    async def notify(self, notice: FactorNotice) -> None:
        """Tell the person; a failure is an event, because the change is made in any case."""
        if self.notifier is None:
            return
        try:
            async with asyncio.timeout(NOTIFIER_SECONDS):
                await self.notifier.notify(notice)
        except Exception as error:
            log.exception("the user notifier failed", change=notice.change)
            cause = plugins.name_exception(error)
            self.emit(UserNotifierFailed(subject=notice.subject, change=notice.change, cause=cause))
