"""What may clients do in this person's name, and how is it taken back?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from service.model.authorization import Authorization
from service.model.events import AuthorizationEnded, Emit
from service.model.handle import digest, is_selector
from service.store.stores import Stores
from service.store.verbs import Command

AT_ONCE = 500
"""Authorizations that end in one round trip; a program may have let a person give thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorizations:
    """The live authorizations, for the person who gave them and for operators."""

    stores: Stores
    now: Callable[[], int]
    emit: Emit

    async def by_id(self, authorization_id: str) -> Authorization | None:
        """The authorization with this id, while any token that came from it may live."""
        if not is_selector(authorization_id):
            return None
        (found,) = await self.stores.kv.read(self.stores.authorizations.read(authorization_id))
        return found

    async def of_subject(self, subject: str) -> tuple[Authorization, ...]:
        """All that were given in this person's name, the latest first."""
        index = self.stores.subject_authorizations.key(digest(subject))
        ids = await self.stores.kv.members(index, now=self.now())
        found = await self.stores.kv.read(*[self.stores.authorizations.read(one) for one in ids])
        live = [one for one in found if one is not None]
        return tuple(sorted(live, key=lambda one: one.created_at, reverse=True))

    async def every(self) -> AsyncIterator[Authorization]:
        """All authorizations; walks the whole store, so only for operators."""
        async for key in self.stores.kv.keys(self.stores.authorizations.key("*")):
            authorization = await self.by_id(key.split("{")[-1].split("}")[0])
            if authorization is not None:
                yield authorization

    async def end(self, *authorizations: Authorization) -> None:
        """Take them back: every token that came from them is inactive from now on (RFC 7009 §2.1)."""
        for first in range(0, len(authorizations), AT_ONCE):
            ended = authorizations[first : first + AT_ONCE]
            writes = [write for one in ended for write in self._without(one)]
            await self.stores.kv.write(*writes, durable=True)
            for one in ended:
                self.emit(
                    AuthorizationEnded(
                        authorization_id=one.id, client_id=one.client_id, subject=one.subject
                    )
                )

    def _without(self, authorization: Authorization) -> Iterator[Command]:
        stores, one = self.stores, authorization.id
        yield stores.authorizations.drop(one)
        if authorization.subject is not None:
            yield stores.subject_authorizations.remove(digest(authorization.subject), one)
        if authorization.session_id is not None:
            yield stores.session_authorizations.remove(authorization.session_id, one)
