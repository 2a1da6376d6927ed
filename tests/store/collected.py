"""A user for whom a program has made thousands of authorizations, consents, sessions and clients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from service.clock import clock
from service.identity.sessions import new_authorization
from service.model.authorization import Authorization
from service.model.handle import digest, new_selector
from service.model.session import Consent, Session
from service.store.stores import Stores
from service.store.verbs import Command
from tests.driving.service import RunningService

MANY = 1_000
"""Of each; what takes a turn for all of them takes ten times as long for as many as there may be."""

CLIENTS = 500
"""Different clients of the authorizations and consents; the others are of `web`."""

SESSIONS = 300

LASTS = 3600


class Collector:
    """Writes the records of alice's without the requests that make them."""

    def __init__(self, service: RunningService, session: Session) -> None:
        self.service = service
        self.session = session
        self.stores: Stores = service.features.shared.stores
        self.owner = digest(session.subject)

    async def authorizations(self, *, number: int = MANY, client_id: str | None = None) -> None:
        """Authorizations of the session, with something of authorization_details each."""
        stores, usual = self.stores, self._authorization()
        made = [
            replace(
                usual,
                id=new_selector(),
                client_id=client_id or _client_of(one),
                created_at=clock() - one,
            )
            for one in range(number)
        ]
        await self._write(stores.authorizations.put(one, one.id, ttl=LASTS) for one in made)
        ids = [one.id for one in made]
        await self._list(stores.subject_authorizations.key(self.owner), ids)
        await self._list(stores.session_authorizations.key(self.session.id), ids)

    async def consents(self) -> None:
        """One for each client."""
        stores, names = self.stores, [f"client{one}" for one in range(MANY)]
        await self._write(
            stores.consents.put(
                Consent(client_id=one, scope=frozenset({"openid"}), given_at=clock()),
                self.owner,
                digest(one),
                ttl=LASTS,
            )
            for one in names
        )
        await self._list(stores.subject_consents.key(self.owner), [digest(one) for one in names])

    async def sessions(self, *, number: int = SESSIONS) -> list[str]:
        """Sessions of other browsers; return their ids."""
        stores = self.stores
        made = [replace(self.session, id=new_selector()) for _ in range(number)]
        await self._write(stores.sessions.put(one, one.id, ttl=LASTS) for one in made)
        ids = [one.id for one in made]
        await self._list(stores.subject_sessions.key(self.owner), ids)
        return ids

    async def session_clients(self) -> None:
        """Clients that are to be told of the session's end."""
        names = [f"client{one}" for one in range(MANY)]
        await self._list(self.stores.session_clients.key(self.session.id), names)

    async def delegated(self, selector: str, source: str) -> None:
        """Tokens that were derived from one."""
        names = [digest(f"derived{one}") for one in range(MANY)]
        await self._list(self.stores.delegated.key(selector, source), names)

    def _authorization(self) -> Authorization:
        return new_authorization(
            self.session,
            client=self.service.features.shared.registry.current.clients["web"],
            scope=frozenset({"openid", "api1"}),
            resources=(),
            authorization_details=({"type": "payment", "amount": "1"},),
            acr=None,
            grant_type="authorization_code",
        )

    async def _list(self, key: str, members: Sequence[str]) -> None:
        await self._write(
            (
                "ZADD",
                key,
                *[part for one in members[first : first + 500] for part in (clock() + LASTS, one)],
            )
            for first in range(0, len(members), 500)
        )
        await self._write([("EXPIRE", key, LASTS)])

    async def _write(self, writes: Iterable[Command]) -> None:
        every = list(writes)
        for first in range(0, len(every), 500):
            await self.stores.kv.write(*every[first : first + 500])


def _client_of(number: int) -> str:
    return f"client{number}" if number < CLIENTS else "web"
