"""Shows and ends the access that users have granted to clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from service.identity.consents import Consents
from service.model.authorization import Authorization
from service.model.events import AuthorizationEnded, Emit
from service.model.handle import digest, is_selector
from service.store.stores import Stores
from service.store.verbs import Command

AT_ONCE = 500
"""Authorizations that end in one round trip; a program may have let a user grant thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorizations:
    """The live authorizations, for the users who granted them and for operators."""

    stores: Stores
    now: Callable[[], int]
    emit: Emit

    async def find(self, authorization_id: str) -> Authorization | None:
        """Return the authorization, while any token that came from it may live."""
        if not is_selector(authorization_id):
            return None
        (found,) = await self.stores.kv.read(self.stores.authorizations.read(authorization_id))
        return found

    async def find_all_of(self, subject: str) -> tuple[Authorization, ...]:
        listed = self.stores.subject_authorizations.members(digest(subject), now=self.now())
        found = await self.stores.read_listed(listed, self.stores.authorizations.read)
        return tuple(sorted(found, key=lambda each: each.created_at, reverse=True))

    async def walk_all(self) -> AsyncIterator[Authorization]:
        """Walk through the whole store, which only operators may do."""
        async for key in self.stores.kv.find_keys(self.stores.authorizations.key("*")):
            authorization = await self.find(key.split("{")[-1].split("}")[0])
            if authorization is not None:
                yield authorization

    async def end(self, *authorizations: Authorization) -> None:
        """Make every token inactive that came from them (RFC 7009 §2.1)."""
        for first in range(0, len(authorizations), AT_ONCE):
            ended = authorizations[first : first + AT_ONCE]
            writes = [write for one in ended for write in self._drop(one)]
            await self.stores.kv.write(*writes, durable=True)
            for one in ended:
                self.emit(
                    AuthorizationEnded(
                        authorization_id=one.id, client_id=one.client_id, subject=one.subject
                    )
                )

    def _drop(self, authorization: Authorization) -> Iterator[Command]:
        stores, one = self.stores, authorization.id
        yield stores.authorizations.drop(one)
        if authorization.subject is not None:
            yield stores.subject_authorizations.remove(digest(authorization.subject), one)
        if authorization.session_id is not None:
            yield stores.session_authorizations.remove(authorization.session_id, one)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAccess:
    """Everything that one client may do in a user's name."""

    client_id: str
    """The client may have been removed from the registry."""
    scope: frozenset[str]
    claims: frozenset[str]
    """Names of claims that were requested by name (OIDC Core §5.5)."""
    since: int
    """Seconds since the epoch, of the oldest part that is still in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedAccess:
    """Joins consents and live authorizations: a user sees both, and takes both back, as one."""

    consents: Consents
    authorizations: Authorizations

    async def find_all_of(self, subject: str) -> tuple[ClientAccess, ...]:
        parts = [
            (each.client_id, each.scope, each.claims, each.given_at)
            for each in await self.consents.find_all_of(subject)
        ]
        for one in await self.authorizations.find_all_of(subject):
            names = one.claims_request.names if one.claims_request else frozenset[str]()
            parts.append((one.client_id, one.scope, names, one.created_at))
        joined: dict[str, ClientAccess] = {}
        for client_id, scope, claims, since in parts:
            before = joined.get(client_id)
            joined[client_id] = ClientAccess(
                client_id=client_id,
                scope=scope | before.scope if before else scope,
                claims=claims | before.claims if before else claims,
                since=min(since, before.since) if before else since,
            )
        return tuple(sorted(joined.values(), key=lambda access: access.since, reverse=True))

    async def revoke(self, subject: str, client_id: str) -> None:
        """Forget the consent, and make every token of the client inactive (RFC 7009 §2.1)."""
        await self.consents.withdraw(subject, client_id)  # first, so that no new grant relies on it
        granted = await self.authorizations.find_all_of(subject)
        await self.authorizations.end(*[one for one in granted if one.client_id == client_id])
