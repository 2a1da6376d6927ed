"""Remembers what users have allowed clients for good (OIDC Core §3.1.2.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from service.model.client import Client
from service.model.events import ConsentWithdrawn, Emit
from service.model.handle import digest
from service.model.session import Consent
from service.store.stores import Stores
from service.store.verbs import Command

YEAR = 365 * 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    scope: frozenset[str]
    claims: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consents:
    """One consent for each subject and client."""

    stores: Stores
    now: Callable[[], int]
    emit: Emit

    async def find(
        self, subject: str, client_id: str, *, unverified_client_host: str | None
    ) -> Consent | None:
        """Return what the user allowed this client and did not take back.

        For a dynamically registered client it counts for the one host that the user has seen:
        such a client changes its redirect URIs as it likes (RFC 7592 §2.2).
        """
        (consent,) = await self.stores.kv.read(
            self.stores.consents.read(digest(subject), digest(client_id))
        )
        is_for_host = (
            consent is not None and consent.unverified_client_host == unverified_client_host
        )
        return consent if is_for_host else None

    async def remember(
        self,
        subject: str,
        client: Client,
        *,
        asked: Wishes,
        allowed: Wishes,
        unverified_client_host: str | None,
    ) -> Consent:
        """Add what was allowed to the earlier consent, less what was asked and is no longer allowed."""
        host, nothing = unverified_client_host, frozenset[str]()
        before = await self.find(subject, client.client_id, unverified_client_host=host)
        consent = Consent(
            client_id=client.client_id,
            scope=(before.scope - asked.scope if before else nothing) | allowed.scope,
            claims=(before.claims - asked.claims if before else nothing) | allowed.claims,
            given_at=self.now(),
            unverified_client_host=host,
        )
        owner, name = digest(subject), digest(client.client_id)
        ttl = YEAR if client.consent_lifetime is None else client.consent_lifetime
        _, count = await self.stores.kv.write(
            self.stores.consents.put(consent, owner, name, ttl=ttl), self._list(owner, name, ttl)
        )
        index = self.stores.subject_consents
        for one in await self.stores.find_surplus(index, owner, count=count):
            await self.stores.kv.write(
                self.stores.consents.drop(owner, one), index.remove(owner, one)
            )
        return consent

    async def prolong(self, subject: str, client: Client) -> None:
        """Keep a consent that was relied upon for another year, unless the client has a lifetime for it."""
        if client.consent_lifetime is not None:
            return
        owner, name = digest(subject), digest(client.client_id)
        await self.stores.kv.write(
            self.stores.consents.extend(owner, name, ttl=YEAR), self._list(owner, name, YEAR)
        )

    async def withdraw(self, subject: str, client_id: str) -> None:
        """Forget the consent; what was granted by it stays."""
        owner, name = digest(subject), digest(client_id)
        dropped, _ = await self.stores.kv.write(
            self.stores.consents.drop(owner, name), self.stores.subject_consents.remove(owner, name)
        )
        if dropped:
            self.emit(ConsentWithdrawn(subject=subject, client_id=client_id))

    async def find_all_of(self, subject: str) -> tuple[Consent, ...]:
        owner, stores = digest(subject), self.stores
        found = await stores.read_listed(
            stores.subject_consents.members(owner, now=self.now()),
            lambda name: stores.consents.read(owner, name),
        )
        return tuple(sorted(found, key=lambda consent: consent.given_at, reverse=True))

    def _list(self, owner: str, name: str, ttl: int) -> Command:
        now = self.now()
        return self.stores.subject_consents.add(owner, name, expires_at=now + ttl, now=now)
