"""The access that users have given to clients: consents, live authorizations, and both as one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable

import msgspec
from msgspec.structs import replace

from service.clock import clock
from service.events.authorizations import ConsentWithdrawn
from service.events.event import Emit
from service.model.authorization import Authorization
from service.model.client import Client
from service.model.handle import digest, is_selector, name_digest
from service.model.session import Consent
from service.protocol.authorization_details import Detail
from service.store.stores import Stores
from service.store.verbs import Command, steps
from service.tokens.liveness import end, note_end

YEAR = 365 * 24 * 3600

SHOWN_DETAILS = 20
"""Objects of authorization_details that are shown of one client; it may have been granted thousands."""


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    scope: frozenset[str]
    claims: frozenset[str]


class Consents(msgspec.Struct, frozen=True, kw_only=True):
    """The lasting permissions that users have given clients, one for each subject and client (OIDC Core §3.1.2.4)."""

    stores: Stores
    longest_access: Callable[[], int]
    """Returns the seconds for which something may live that no record stands for, such as an ID token."""
    emit: Emit

    async def find(
        self, subject: str, client_id: str, *, unverified_client_host: str | None
    ) -> Consent | None:
        """Return what the user allowed this client and did not take back.

        For a dynamically registered client it counts for the one host that the user has seen:
        such a client changes its redirect URIs as it likes (RFC 7592 §2.2).
        """
        (consent,) = await self.stores.kv.read(
            self.stores.consents.read(name_digest(subject), name_digest(client_id))
        )
        if consent is None or consent.unverified_client_host != unverified_client_host:
            return None
        return consent

    async def remember(
        self,
        subject: str,
        client: Client,
        *,
        asked: Wishes,
        allowed: Wishes,
        unverified_client_host: str | None,
    ) -> None:
        """Add what was allowed to the earlier consent, less what was asked and is no longer allowed."""
        host, scope, claims = unverified_client_host, allowed.scope, allowed.claims
        before = await self.find(subject, client.client_id, unverified_client_host=host)
        if before is not None:
            scope |= before.scope - asked.scope
            claims |= before.claims - asked.claims
        consent = Consent(
            client_id=client.client_id,
            scope=scope,
            claims=claims,
            given_at=clock(),
            unverified_client_host=host,
        )
        owner, name = digest(subject), digest(client.client_id)
        ttl = YEAR if client.consent_lifetime is None else client.consent_lifetime
        _, count = await self.stores.kv.write(
            self.stores.consents.put(consent, owner, name, ttl=ttl), self._list(owner, name, ttl)
        )
        index = self.stores.subject_consents
        for one in await self.stores.find_surplus(index, owner, count=count):
            drop = self.stores.consents.drop(owner, one)
            await self.stores.kv.write(drop, index.remove(owner, one))

    def prolong(self, subject: str, client: Client) -> list[Command]:
        """Return the commands that keep a consent for another year, as it was relied upon; none if the client has a lifetime for it."""
        if client.consent_lifetime is not None:
            return []
        owner, name = digest(subject), digest(client.client_id)
        extend = self.stores.consents.extend(owner, name, ttl=YEAR)
        return [extend, self._list(owner, name, YEAR)]

    async def withdraw(self, subject: str, client_id: str) -> None:
        """Forget the consent; what was granted by it stays."""
        owner, name = digest(subject), digest(client_id)
        dropped, _ = await self.stores.kv.write(
            self.stores.consents.drop(owner, name), self.stores.subject_consents.remove(owner, name)
        )
        if dropped:
            ttl = self.longest_access()
            await self.stores.kv.write(note_end(self.stores, subject, client_id, ttl=ttl))
            self.emit(ConsentWithdrawn(subject=subject, client_id=client_id))

    async def withdraw_all(self, subject: str) -> int:
        """Forget all consents of a user in steps; return how many there were."""
        owner, withdrawn, stores, ttl = digest(subject), 0, self.stores, self.longest_access()
        async for some in self.walk_all_of(subject):
            names = [digest(consent.client_id) for consent in some]
            drops = [stores.consents.drop(owner, name) for name in names]
            removals = [stores.subject_consents.remove(owner, name) for name in names]
            events = [ConsentWithdrawn(subject=subject, client_id=one.client_id) for one in some]
            ends = [note_end(stores, subject, one.client_id, ttl=ttl) for one in some]
            await stores.kv.write(*drops, *removals, *ends, events=events)
            for event in events:
                self.emit(event)
            withdrawn += len(some)
        return withdrawn

    async def find_all_of(self, subject: str) -> tuple[Consent, ...]:
        found = [one async for some in self.walk_all_of(subject) for one in some]
        return tuple(sorted(found, key=lambda consent: consent.given_at, reverse=True))

    def walk_all_of(self, subject: str) -> AsyncIterator[list[Consent]]:
        """Return the user's consents in steps."""
        owner, stores = digest(subject), self.stores
        listed = stores.subject_consents.members(owner)
        return stores.walk_listed(listed, lambda name: stores.consents.read(owner, name))

    def _list(self, owner: str, name: str, ttl: int) -> Command:
        return self.stores.subject_consents.add(owner, name, expires_at=clock() + ttl)


class Authorizations(msgspec.Struct, frozen=True, kw_only=True):
    """The live authorizations, for the users who granted them and for operators."""

    stores: Stores
    longest_access: Callable[[], int]
    """Returns the seconds for which something may live that no record stands for, such as an ID token."""
    emit: Emit

    async def find(self, authorization_id: str) -> Authorization | None:
        """Return the authorization, while any token that came from it may live."""
        if not is_selector(authorization_id):
            return None
        (found,) = await self.stores.kv.read(self.stores.authorizations.read(authorization_id))
        return found

    async def find_all_of(self, subject: str) -> tuple[Authorization, ...]:
        found = [one async for some in self.walk_all_of(subject) for one in some]
        return tuple(sorted(found, key=lambda each: each.created_at, reverse=True))

    def walk_all_of(self, subject: str) -> AsyncIterator[list[Authorization]]:
        """Return the user's authorizations in steps."""
        listed = self.stores.subject_authorizations.members(digest(subject))
        return self.stores.walk_listed(listed, self.stores.authorizations.read)

    def walk_all(self) -> AsyncIterator[list[Authorization]]:
        """Walk through the whole store in steps, which only operators may do."""
        return self.stores.walk_all(self.stores.authorizations)

    async def end(self, *authorizations: Authorization) -> None:
        """Make every token inactive that came from them (RFC 7009 §2.1), and their clients' ID tokens useless here."""
        stores, ttl = self.stores, self.longest_access()
        for ended in steps(authorizations):
            parties = {(one.subject, one.client_id) for one in ended if one.subject is not None}
            notes = [note_end(stores, *each, ttl=ttl) for each in parties]
            await end(stores, ended, *notes, emit=self.emit, durable=True)

    async def end_all_of(self, subject: str) -> int:
        """End all authorizations of a user in steps; return how many there were."""
        count = 0
        async for some in self.walk_all_of(subject):
            await self.end(*some)
            count += len(some)
        return count


class ClientAccess(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one client may do in a user's name."""

    client_id: str
    """The client may have been removed from the registry."""
    scope: frozenset[str]
    claims: frozenset[str]
    """Names of claims that were requested by name (OIDC Core §5.5)."""
    authorization_details: tuple[Detail, ...] = ()
    """Details that were allowed once, in live authorizations (RFC 9396); the first SHOWN_DETAILS."""
    more_details: int = 0
    """Further objects."""
    since: int
    """Seconds since the epoch, of the oldest part that is still in force."""


class GrantedAccess(msgspec.Struct, frozen=True, kw_only=True):
    """Joins consents and live authorizations: a user sees both, and takes both back, as one."""

    consents: Consents
    authorizations: Authorizations

    async def find_all_of(self, subject: str) -> tuple[ClientAccess, ...]:
        """Return the access of each client, the latest first."""
        joined: dict[str, ClientAccess] = {}
        async for consents in self.consents.walk_all_of(subject):
            _join_all(joined, map(_by_consent, consents))
        async for authorizations in self.authorizations.walk_all_of(subject):
            _join_all(joined, map(_by_authorization, authorizations))
        return tuple(sorted(joined.values(), key=lambda one: (-one.since, one.client_id)))

    async def revoke(self, subject: str, client_id: str) -> None:
        """Forget the consent, and make every token of the client inactive (RFC 7009 §2.1)."""
        await self.consents.withdraw(subject, client_id)  # first, so that no new grant relies on it
        async for granted in self.authorizations.walk_all_of(subject):
            await self.authorizations.end(*[one for one in granted if one.client_id == client_id])


def _by_consent(consent: Consent) -> ClientAccess:
    return ClientAccess(
        client_id=consent.client_id,
        scope=consent.scope,
        claims=consent.claims,
        since=consent.given_at,
    )


def _by_authorization(authorization: Authorization) -> ClientAccess:
    asked, details = authorization.claims_request, authorization.authorization_details
    return ClientAccess(
        client_id=authorization.client_id,
        scope=authorization.scope,
        claims=asked.names if asked else frozenset[str](),
        authorization_details=details[:SHOWN_DETAILS],
        more_details=max(0, len(details) - SHOWN_DETAILS),
        since=authorization.created_at,
    )


def _join_all(joined: dict[str, ClientAccess], found: Iterable[ClientAccess]) -> None:
    for new in found:
        old = joined.get(new.client_id)
        joined[new.client_id] = new if old is None else _join(old, new)


def _join(one: ClientAccess, other: ClientAccess) -> ClientAccess:
    details = one.authorization_details + other.authorization_details
    return replace(
        one,
        scope=one.scope | other.scope,
        claims=one.claims | other.claims,
        authorization_details=details[:SHOWN_DETAILS],
        more_details=one.more_details + other.more_details + max(0, len(details) - SHOWN_DETAILS),
        since=min(one.since, other.since),
    )
