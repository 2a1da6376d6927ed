"""What may each client do in this person's name, by consents and by live authorizations together?"""

from __future__ import annotations

from dataclasses import dataclass

from service.identity.authorizations import Authorizations
from service.identity.consents import Consents


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAccess:
    """Everything that one client may do."""

    client_id: str
    """It need not be registered any longer."""
    scope: frozenset[str]
    claims: frozenset[str]
    """Names of claims that were asked for by name (OIDC Core §5.5)."""
    since: int
    """Seconds since the epoch, of what is the oldest and still in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedAccess:
    """Shows a person what was granted to each client, and takes it back whole."""

    consents: Consents
    authorizations: Authorizations

    async def of_subject(self, subject: str) -> tuple[ClientAccess, ...]:
        """One entry for each client, the latest first."""
        parts = [
            *[
                ClientAccess(
                    client_id=one.client_id,
                    scope=one.scope,
                    claims=one.claims,
                    since=one.given_at,
                )
                for one in await self.consents.of_subject(subject)
            ],
            *[
                ClientAccess(
                    client_id=one.client_id,
                    scope=one.scope,
                    claims=one.claims_request.names if one.claims_request else frozenset(),
                    since=one.created_at,
                )
                for one in await self.authorizations.of_subject(subject)
            ],
        ]
        whole: dict[str, ClientAccess] = {}
        for part in parts:
            whole[part.client_id] = _joined(part, whole.get(part.client_id, part))
        return tuple(sorted(whole.values(), key=lambda access: access.since, reverse=True))

    async def take_back(self, subject: str, client_id: str) -> None:
        """The person is asked again, and every token that the client has is inactive (RFC 7009 §2.1)."""
        await self.consents.withdraw(subject, client_id)  # first, so that no new grant relies on it
        given = await self.authorizations.of_subject(subject)
        await self.authorizations.end(*[one for one in given if one.client_id == client_id])


def _joined(one: ClientAccess, other: ClientAccess) -> ClientAccess:
    return ClientAccess(
        client_id=one.client_id,
        scope=one.scope | other.scope,
        claims=one.claims | other.claims,
        since=min(one.since, other.since),
    )
