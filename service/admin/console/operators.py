"""Finds the operator at a browser: the console's session, the user's session behind it, and what both may do."""

from __future__ import annotations

import msgspec

from service.admin.console.sign_in import FRESH_SECONDS
from service.clock import clock
from service.identity.sessions import Sessions
from service.model.authorization import Authorization
from service.model.handle import digest
from service.model.registry import LiveRegistry
from service.model.user import TokenUsers, is_any_met
from service.protocol.claims import find_text
from service.protocol.octets import random_text
from service.store.stores import Stores
from service.tokens.permitted import find_user_claims, may_use, with_identity

IDLE_SECONDS = 15 * 60
"""Seconds after which an unused session of the console ends."""

_LENGTH = 43


class Operator(msgspec.Struct, frozen=True, kw_only=True):
    """A user with access to the console."""

    cookie: str
    person: Authorization
    """How and when the user has signed in at the console."""
    name: str
    may_write: bool

    @property
    def subject(self) -> str:
        return str(self.person.subject)

    @property
    def session_id(self) -> str | None:
        """The user's session at the service, by which the operator has signed in here."""
        return self.person.session_id

    @property
    def is_fresh(self) -> bool:
        """Whether the sign-in is recent enough to change something."""
        return clock() - (self.person.auth_time or 0) < FRESH_SECONDS


class Operators(msgspec.Struct, frozen=True, kw_only=True):
    """The store holds a hash of the cookie; nothing is kept in a replica."""

    stores: Stores
    sessions: Sessions
    users: TokenUsers
    registry: LiveRegistry

    async def begin(self, person: Authorization, *, instead_of: str) -> str:
        """Begin a session of the console with a new cookie, which is returned; the previous one counts no longer."""
        cookie, records = random_text(32), self.stores.console_sessions
        writes = [records.put(person, digest(cookie), ttl=IDLE_SECONDS)]
        if instead_of:
            writes.append(records.drop(digest(instead_of)))
        await self.stores.kv.write(*writes)
        return cookie

    async def find(self, cookie: str) -> Operator | None:
        """Return the operator, and begin the idle time anew; None where any session has ended, or the user may not look."""
        if len(cookie) != _LENGTH:
            return None
        records = self.stores.console_sessions
        (person,) = await self.stores.kv.read(records.read(digest(cookie)))
        operator = None if person is None else await self._find_rights(cookie, person)
        if operator is None:
            return None
        await self.stores.kv.write(records.extend(digest(cookie), ttl=IDLE_SECONDS))
        return operator

    async def judge(self, person: Authorization) -> Operator | None:
        """Return the operator after a sign-in; None where the user has no access."""
        return await self._find_rights("", person)

    async def end(self, operator: Operator) -> None:
        """End the session of the console and the user's own, without which the next click would sign in again."""
        await self.stores.kv.write(self.stores.console_sessions.drop(digest(operator.cookie)))
        session = await self.sessions.find_by_id(operator.person.session_id or "")
        if session is not None:
            await self.sessions.end(session)

    async def _find_rights(self, cookie: str, person: Authorization) -> Operator | None:
        registry = self.registry.current
        admin, client = registry.admin, registry.console_client
        session = await self.sessions.find_by_id(person.session_id or "")
        if admin is None or client is None or session is None or session.subject != person.subject:
            return None
        claims = await find_user_claims(self.users, self.registry, person)
        if claims is None or not may_use(
            client.permissions, person.subject, person.idp, claims, registry
        ):
            return None
        await self.sessions.touch(session)
        known = with_identity(claims, str(person.subject), person.idp, registry)
        return Operator(
            cookie=cookie,
            person=person,
            name=find_text(claims, "name", "preferred_username") or str(person.subject),
            may_write=is_any_met(admin.writers, known),
        )
