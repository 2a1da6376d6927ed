"""Signs users in by a passkey alone, which says who they are and proves two factors (WebAuthn Level 3 §7.2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress

import msgspec

from service.events.event import Emit
from service.events.factors import PasskeyRejected, PasskeySignInSucceeded
from service.identity.factors.methods import MFA
from service.identity.factors.passkey import UserPasskeys
from service.identity.passkeys import Answer, Asking, PasskeyRefused
from service.identity.sign_in import Throttle, is_of_tenants
from service.model.handle import digest
from service.model.user import User, UserStore
from service.protocol.errors import TooManyRequests


class PasskeySignIn(msgspec.Struct, frozen=True, kw_only=True):
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
        self, asking: Asking, response: str, *, tenants: Collection[str]
    ) -> tuple[User, tuple[str, ...]] | None:
        """Return the user and the methods that the passkey proves; None for all that is not right.

        If there are tenants, the user has to be of one of them.
        """
        sub = None
        try:
            answer = await self.used.passkeys.open(asking, response)
            sub = await self.used.owners.find(answer.unverified_credential_id)
            return await self._find_user(sub, asking.address, answer, tenants)
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
        self, sub: str | None, address: str, answer: Answer, tenants: Collection[str]
    ) -> tuple[User, tuple[str, ...]]:
        """Count the attempt before it is judged, so that a burst cannot outrun the counters."""
        counted = digest(answer.unverified_credential_id)
        if await self.throttle.take_attempt(counted, address) < 0:
            raise PasskeyRefused("locked", "too many attempts have failed")
        user = await self.users.by_subject(sub) if sub is not None else None
        if user is None or not user.enabled or not is_of_tenants(user, tenants):
            raise PasskeyRefused("unknown", "no user who may sign in has this passkey")
        passkey = await self.used.use(user.sub, answer, alone=True)
        await self.throttle.give_back(counted, address)
        username = user.username
        self.emit(PasskeySignInSucceeded(subject=user.sub, username=username, address=address))
        return user, (*passkey.amr, MFA)
