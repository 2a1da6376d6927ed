"""Ends what users and clients have: for the admin API, the console and the command line."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from service.events.event import Emit
from service.events.factors import FactorRemoved
from service.identity.access import Authorizations, Consents
from service.identity.factors.guesses import Guesses
from service.identity.factors.stored import EnrolledFactors, methods_of, remove_all
from service.identity.sessions import Sessions
from service.identity.throttle import Throttle, account_of_code
from service.identity.users import Directory
from service.model.authorization import Authorization
from service.model.handle import digest
from service.model.request_context import current_request
from service.model.session import Session
from service.store.stores import Stores

LONG_WALK = 300
"""Seconds that a walk through the whole store may wait for Redis; other requests have a few."""


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """Each end can be repeated, and says what it has ended."""

    stores: Stores
    users: Directory
    sessions: Sessions
    consents: Consents
    authorizations: Authorizations
    factors: EnrolledFactors
    guesses: Guesses
    password_throttle: Throttle
    factor_throttle: Throttle
    emit: Emit

    async def end_sessions(self, subject: str) -> int:
        """End the user's sessions with their tokens, all but those with offline access; clients get logout tokens."""
        found = await self.sessions.find_all_of(subject)
        await self.sessions.end(*found)
        return len(found)

    async def end_session(self, sid: str) -> Session | None:
        session = await self.sessions.find_by_id(sid)
        if session is not None:
            await self.sessions.end(session)
        return session

    async def end_grants(self, subject: str) -> int:
        """Withdraw the user's consents, and make all tokens of all clients inactive; return how many grants there were."""
        await self.consents.withdraw_all(subject)  # so that nothing new relies on them
        return await self.authorizations.end_all_of(subject)

    async def end_grant(self, authorization_id: str) -> Authorization | None:
        """Make the tokens of one grant inactive; the user's consent to the client stays."""
        found = await self.authorizations.find(authorization_id)
        if found is not None:
            await self.authorizations.end(found)
        return found

    async def end_grants_of_client(self, client_id: str) -> int:
        """Make all tokens of the client inactive that users have granted, and withdraw the consents behind them.

        It walks through the whole store (docs/decisions/store/grants-of-a-client.md).
        """
        if (request := current_request.get()) is not None:
            request.store_seconds = LONG_WALK
        count = 0
        async for some in self.authorizations.walk_all():
            granted = [one for one in some if one.client_id == client_id]
            await self.revoke(granted)
            count += len(granted)
        return count

    async def revoke(self, granted: Sequence[Authorization]) -> None:
        """End grants, and first the consents of their users to their clients, so that no new grant relies on one."""
        for subject, client_id in {(one.subject, one.client_id) for one in granted}:
            if subject is not None:
                await self.consents.withdraw(subject, client_id)
        await self.authorizations.end(*granted)

    async def remove_factors(self, subject: str) -> Sequence[str]:
        """Remove all second factors and recovery codes; return the methods, `unreadable` where no key can decrypt them."""
        removed = await remove_all(self.factors, self.stores, subject)
        await self.guesses.forget(subject)
        methods = ["unreadable"] if removed is None else methods_of(removed)
        for method in methods:
            self.emit(FactorRemoved(subject=subject, method=method, address=None))
        return methods

    async def unlock(self, subject: str) -> None:
        """Forget wrong passwords and codes of the user, from wherever they came."""
        user = await self.users.by_subject(subject)
        if user is not None:
            await self.password_throttle.forget(user.username)
        await self.factor_throttle.forget(digest(subject))
        await self.guesses.forget(subject)
        code = account_of_code(subject)
        await self.password_throttle.forget(code)
        await self.guesses.forget_everywhere(code)
