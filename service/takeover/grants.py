"""Loads refresh tokens of IdentityServer, so that clients go on without their users.

The other server has kept the hash of a handle alone. From that come the id of an authorization and the key of a record, as this service keeps
its own: the first use finds both in one round trip, is one atomic step, and gives a successor that this service has made.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from service.clock import clock
from service.events.event import Emit
from service.events.tokens import RefreshTokensLoaded
from service.model.authorization import Authorization, RefreshToken, new_family_key
from service.model.client import Client
from service.model.handle import selector_of_loaded
from service.model.registry import Registry
from service.model.user import LINKED_BY_IDENTITY, LOCAL
from service.protocol.octets import random_text
from service.protocol.scope import OFFLINE_ACCESS
from service.store.stores import Stores
from service.store.verbs import STEP
from service.takeover.persisted_grants import Ended, NotTaken, PersistedGrant, read_grant
from service.takeover.reading import read_members
from service.tokens.liveness import begin, make_room


class LoadedGrants(msgspec.Struct, kw_only=True):
    """The numbers of rows of a file, by their outcome."""

    taken: int = 0
    known: int = 0
    """Refresh tokens that were here already, used or not."""
    ended: int = 0
    """Rows that are no refresh token, or one that was used or has expired."""
    left_out: Counter[str] = msgspec.field(default_factory=Counter[str])
    """Refresh tokens that were not taken, by the reason."""
    places: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """By the reason, the place of the first one."""


class GrantLoading(msgspec.Struct, frozen=True, kw_only=True):
    """Loading the same file again changes nothing: a token that was used or revoked here does not come back."""

    stores: Stores
    registry: Registry
    emit: Emit

    async def load(self, path: Path, result: LoadedGrants) -> None:
        """Store the refresh tokens of a file, and count them in `result`; raise Unreadable where it cannot be read any further."""
        grants = self._read(path, result)
        try:
            while some := [*islice(grants, STEP)]:
                new = await self._find_new(some)
                await asyncio.gather(*map(self._store, new))
                result.taken += len(new)
                result.known += len(some) - len(new)
        finally:
            if result.taken:
                self.emit(RefreshTokensLoaded(count=result.taken))

    def _read(self, path: Path, result: LoadedGrants) -> Iterator[PersistedGrant]:
        for node in read_members(path):
            try:
                grant = read_grant(node.value, now=clock())
                self._find_client(grant)
            except Ended:
                result.ended += 1
            except NotTaken as error:
                result.left_out[str(error)] += 1
                result.places.setdefault(str(error), node.place)
            else:
                yield grant

    def _find_client(self, grant: PersistedGrant) -> Client:
        """Return the client of a grant; NotTaken if it, or an API that the grant is for, is not here."""
        client = self.registry.clients.get(grant.client_id)
        if client is None:
            raise NotTaken("is of a client that is not in the registry")
        if any(self.registry.find_api(one) is None for one in grant.resources):
            raise NotTaken("is for a resource indicator that no API here has")
        return client

    async def _find_new(self, grants: Sequence[PersistedGrant]) -> list[PersistedGrant]:
        records = self.stores.refresh_tokens
        places = [(selector_of_loaded(one.digest), one.digest) for one in grants]
        found = await self.stores.kv.read(*[records.read(*place) for place in places])
        return [one for one, known in zip(grants, found, strict=True) if known is None]

    async def _store(self, grant: PersistedGrant) -> None:
        """Write the authorization before the token: of two writes that are cut off, the token is not there yet."""
        stores, left = self.stores, grant.expires_at - clock()
        authorization, client = self._authorize(grant), self._find_client(grant)
        record = RefreshToken(
            seed=random_text(32),
            ends_at=_end_of_family(grant, client),
            cnf=grant.cnf if client.is_public else None,
            authorization_until=grant.expires_at,
        )
        put = stores.refresh_tokens.put_new(record, authorization.id, grant.digest, ttl=left)
        writes = begin(stores, authorization, ttl=left)
        count, *_ = await stores.kv.write(*writes, put, durable=True)
        await make_room(stores, authorization, count=count, emit=self.emit)

    def _authorize(self, grant: PersistedGrant) -> Authorization:
        """Return what the user has granted there; the registry says at each use how much of it is still allowed."""
        scope = grant.scope | {OFFLINE_ACCESS}
        # There a provider's users are users of the server itself, too.
        is_linked = grant.idp in self.registry.identity_providers
        return Authorization(
            id=selector_of_loaded(grant.digest),
            client_id=grant.client_id,
            scope=scope,
            resources=self.registry.spell(grant.resources),
            subject=grant.subject,
            amr=grant.amr,
            acr=grant.acr,
            idp=grant.idp if is_linked else LOCAL,
            user_claims={"sub": grant.subject, **LINKED_BY_IDENTITY} if is_linked else {},
            auth_time=grant.auth_time,
            session_id=grant.session_id,
            family_key=new_family_key(scope),
            cnf=grant.cnf,
            created_at=grant.created_at,
        )


def _end_of_family(grant: PersistedGrant, client: Client) -> int:
    """Return the absolute end; of a sliding token the row has only the end for now."""
    if client.refresh_token_expiration != "sliding":
        return grant.expires_at
    return max(grant.expires_at, grant.created_at + client.absolute_refresh_token_lifetime)
