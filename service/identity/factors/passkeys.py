"""Passkeys of users: as a second factor, and alone, to add, use and remove them (WebAuthn Level 3 §7)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from service.events.event import Emit
from service.events.factors import PasskeyRejected, PasskeySignInSucceeded
from service.identity.accepted_users import AcceptedUsers
from service.identity.factors.enrolment import Owner
from service.identity.factors.methods import MFA, Asked, FactorAttempt
from service.identity.factors.passkey_challenges import Answer, Asking, PasskeyRefused, Passkeys
from service.identity.factors.stored import EnrolledFactors, PasskeyOwners
from service.identity.throttle import Throttle
from service.model.factors import Factors, Passkey
from service.model.handle import digest
from service.model.user import User, UserStore
from service.protocol.errors import TooManyRequests
from service.protocol.params import Params

MAX_PASSKEYS = 20
"""Of one user; all of them are named to the browser each time."""


class UserPasskeys(msgspec.Struct, frozen=True, kw_only=True):
    """The passkeys that users have; each change of one is made once over all replicas."""

    passkeys: Passkeys
    owners: PasskeyOwners
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


class PasskeyMethod(msgspec.Struct, frozen=True, kw_only=True):
    """A passkey besides a password."""

    name: ClassVar[str] = "passkey"
    can_be_guessed: ClassVar[bool] = False
    used: UserPasskeys
    emit: Emit

    def find_amr(self, factors: Factors) -> frozenset[str]:
        return frozenset(amr for passkey in factors.passkeys for amr in passkey.amr)

    async def prepare(self, sub: str, asked: Asked) -> Mapping[str, object]:
        factors = await self.used.enrolled.find(sub)
        asking = _new_asking(sub, asked)
        return {"options": await self.used.passkeys.ask(asking, among=factors.passkeys)}

    async def verify(self, attempt: FactorAttempt) -> tuple[str, ...] | None:
        response = attempt.params.get("passkey") or ""
        try:
            asking = _new_asking(attempt.sub, attempt.asked)
            answer = await self.used.passkeys.open(asking, response)
            return (await self.used.use(attempt.sub, answer, alone=False)).amr
        except PasskeyRefused as refused:
            self.emit(_rejection(attempt, refused))
            return None


class PasskeyEnrolment(msgspec.Struct, frozen=True, kw_only=True):
    """Adds and removes passkeys (WebAuthn Level 3 §7.1)."""

    name: ClassVar[str] = PasskeyMethod.name
    amr: ClassVar[tuple[frozenset[str], ...]] = tuple(
        frozenset({key, "user"}) for key in ("hwk", "swk")
    )
    used: UserPasskeys
    emit: Emit

    def can_add(self, factors: Factors) -> bool:
        return len(factors.passkeys) < MAX_PASSKEYS

    async def prepare(self, owner: Owner, params: Params, asked: Asked) -> Mapping[str, object]:
        """Let the browser ask at once where the user has chosen passkeys, and has not tried yet."""
        factors = await self.used.enrolled.find(owner.sub)
        username = owner.username or owner.sub
        options = await self.used.passkeys.ask_for_new(
            _asking_for_new(owner.sub, asked, factors),
            username=username,
            display_name=username,
            known=factors.passkeys,
        )
        has_chosen = params.get("method") == self.name and params.get("passkey") is None
        return {"options": options, "asks_at_once": has_chosen}

    async def add(self, attempt: FactorAttempt, *, name: str) -> tuple[str, ...] | None:
        try:
            return (await self._register(attempt, name)).amr
        except PasskeyRefused as refused:
            self.emit(_rejection(attempt, refused))
            return None

    async def _register(self, attempt: FactorAttempt, name: str) -> Passkey:
        factors = await self.used.enrolled.find(attempt.sub)
        asking = _asking_for_new(attempt.sub, attempt.asked, factors)
        answer = await self.used.passkeys.open(asking, attempt.params.get("passkey") or "")
        passkey = self.used.passkeys.register(asking, answer, name=name)

        def add(factors: Factors) -> Factors | None:
            is_known = any(one.credential_id == passkey.credential_id for one in factors.passkeys)
            full = is_known or not self.can_add(factors)
            return None if full else replace(factors, passkeys=(*factors.passkeys, passkey))

        if not await self.used.owners.claim(passkey.credential_id, attempt.sub):
            raise PasskeyRefused("unverified", "the passkey is another user's")
        if await self.used.enrolled.change(attempt.sub, add) is None:
            raise PasskeyRefused("unverified", "the passkey is known, or there are too many")
        return passkey

    async def remove(self, sub: str, factor_id: str) -> bool:
        def without(factors: Factors) -> Factors | None:
            left = tuple(one for one in factors.passkeys if one.credential_id != factor_id)
            return None if left == factors.passkeys else replace(factors, passkeys=left)

        if await self.used.enrolled.change(sub, without) is None:
            return False
        await self.used.owners.release(factor_id)
        return True


def _rejection(attempt: FactorAttempt, refused: PasskeyRefused) -> PasskeyRejected:
    return PasskeyRejected(
        subject=attempt.sub, address=attempt.address, reason=refused.reason, cause=str(refused)
    )


def _asking_for_new(sub: str, asked: Asked, factors: Factors) -> Asking:
    handle = factors.passkeys[0].user_handle if factors.passkeys else ""
    return Asking(
        purpose="enrolment",
        browser=asked.browser,
        parked_id=asked.parked_id,
        subject=sub,
        user_handle=handle,
    )


def _new_asking(sub: str, asked: Asked) -> Asking:
    return Asking(
        purpose="second factor", browser=asked.browser, parked_id=asked.parked_id, subject=sub
    )


class PasskeySignIn(msgspec.Struct, frozen=True, kw_only=True):
    """Signs users in by a passkey alone, which says who they are and proves two factors (§7.2)."""

    used: UserPasskeys
    users: UserStore
    throttle: Throttle
    """That of second factors: its counters are not those of passwords."""
    emit: Emit

    async def offer(self, asking: Asking) -> Mapping[str, object] | None:
        """Return what the browser is asked for; None for a network that has been asked too often."""
        with suppress(TooManyRequests):
            return await self.used.passkeys.ask(asking)
        return None

    async def verify(
        self, asking: Asking, response: str, *, accepted: AcceptedUsers
    ) -> tuple[User, tuple[str, ...]] | None:
        """Return the user and the methods that the passkey proves; None for all that is not right."""
        sub = None
        try:
            answer = await self.used.passkeys.open(asking, response)
            sub = await self.used.owners.find(answer.unverified_credential_id)
            return await self._find_user(sub, asking.address, answer, accepted)
        except PasskeyRefused as refused:
            if refused.unverified_credential_id is not None:
                sub = await self.used.owners.find(refused.unverified_credential_id)
            self.emit(
                PasskeyRejected(
                    subject=sub,
                    address=asking.address,
                    reason=refused.reason,
                    cause=str(refused),
                )
            )
            return None

    async def _find_user(
        self, sub: str | None, address: str, answer: Answer, accepted: AcceptedUsers
    ) -> tuple[User, tuple[str, ...]]:
        """Count the attempt before it is judged, so that a burst cannot outrun the counters."""
        counted = digest(answer.unverified_credential_id)
        if await self.throttle.take_attempt(counted, address) < 0:
            raise PasskeyRefused("locked", "too many attempts have failed")
        user = await self.users.by_subject(sub) if sub is not None else None
        if user is None or not user.enabled or accepted.find_failure(user) is not None:
            raise PasskeyRefused("unknown", "no user who may sign in has this passkey")
        passkey = await self.used.use(user.sub, answer, alone=True)
        await self.throttle.give_back(counted, address)
        username = user.username
        self.emit(PasskeySignInSucceeded(subject=user.sub, username=username, address=address))
        return user, (*passkey.amr, MFA)
