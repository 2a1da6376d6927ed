"""What has this person allowed this client for good? (OIDC Core §3.1.2.4)"""

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
    """What a person is asked to allow: scope values, and claims that none of them stands for."""

    scope: frozenset[str]
    claims: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consents:
    """Remembers one consent for each subject and client."""

    stores: Stores
    now: Callable[[], int]
    emit: Emit

    async def find(
        self, subject: str, client_id: str, *, unverified_client_host: str | None
    ) -> Consent | None:
        """What the person allowed this client and did not take back.

        What a client that registered itself may do at one host it may not do at another, which the
        person has not seen: such a client changes its redirect URIs as it likes (RFC 7592 §2.2).
        """
        (consent,) = await self.stores.kv.read(
            self.stores.consents.read(digest(subject), digest(client_id))
        )
        return (
            consent
            if consent is not None and consent.unverified_client_host == unverified_client_host
            else None
        )

    async def remember(
        self,
        subject: str,
        client: Client,
        *,
        asked: Wishes,
        allowed: Wishes,
        unverified_client_host: str | None,
    ) -> Consent:
        """Add what was allowed to what was before, less what was asked and is no longer allowed."""
        before = await self.find(
            subject, client.client_id, unverified_client_host=unverified_client_host
        )
        nothing = frozenset[str]()
        consent = Consent(
            client_id=client.client_id,
            scope=(before.scope - asked.scope if before else nothing) | allowed.scope,
            claims=(before.claims - asked.claims if before else nothing) | allowed.claims,
            given_at=self.now(),
            unverified_client_host=unverified_client_host,
        )
        owner, name = digest(subject), digest(client.client_id)
        ttl = YEAR if client.consent_lifetime is None else client.consent_lifetime
        _, count = await self.stores.kv.write(
            self.stores.consents.put(consent, owner, name, ttl=ttl), self._listed(owner, name, ttl)
        )
        listed = self.stores.subject_consents
        for one in await self.stores.find_surplus(listed, owner, count=count):
            await self.stores.kv.write(
                self.stores.consents.drop(owner, one), listed.remove(owner, one)
            )
        return consent

    async def used(self, subject: str, client: Client) -> None:
        """It was relied upon: it lasts another year, unless the client has a lifetime for it."""
        if client.consent_lifetime is not None:
            return
        owner, name = digest(subject), digest(client.client_id)
        await self.stores.kv.write(
            self.stores.consents.extend(owner, name, ttl=YEAR), self._listed(owner, name, YEAR)
        )

    async def withdraw(self, subject: str, client_id: str) -> None:
        """Forget it: the person is asked again; what was granted is another matter."""
        owner, name = digest(subject), digest(client_id)
        dropped, _ = await self.stores.kv.write(
            self.stores.consents.drop(owner, name), self.stores.subject_consents.remove(owner, name)
        )
        if dropped:
            self.emit(ConsentWithdrawn(subject=subject, client_id=client_id))

    async def of_subject(self, subject: str) -> tuple[Consent, ...]:
        """All that the person has allowed, the latest first."""
        owner = digest(subject)
        names = await self.stores.kv.members(
            self.stores.subject_consents.key(owner), now=self.now()
        )
        found = await self.stores.kv.read(
            *[self.stores.consents.read(owner, name) for name in names]
        )
        consents = [one for one in found if one is not None]
        return tuple(sorted(consents, key=lambda consent: consent.given_at, reverse=True))

    def _listed(self, owner: str, name: str, ttl: int) -> Command:
        now = self.now()
        return self.stores.subject_consents.add(owner, name, expires_at=now + ttl, now=now)
