"""Authorization requests that wait for a person: pages carry only a short id (RFC 9700 §4.16)."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, replace

from service.model.handle import digest
from service.model.session import Answers, ParkedRequest
from service.protocol.errors import InvalidRequest
from service.protocol.params import Params
from service.store.stores import Stores

LIFETIME = 15 * 60
"""Seconds that a person has for all the pages of one request."""

_MAX_ID_LENGTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Parking:
    """Keeps requests in the store, each for the browser that began it."""

    stores: Stores

    async def park(self, params: Params, *, browser: str | None) -> str:
        """Keep a request; its id. Without a browser it belongs to the first that continues it."""
        parked_id = secrets.token_urlsafe(16)
        parked = ParkedRequest(
            params=params.values, browser_digest=None if browser is None else digest(browser)
        )
        put = self.stores.parked.put(parked, digest(parked_id), ttl=LIFETIME)
        await self.stores.kv.write(put)
        return parked_id

    async def find(self, parked_id: str, *, browser: str) -> ParkedRequest:
        """The request with this id, in the browser that began it; InvalidRequest otherwise."""
        parked = await self._read(parked_id)
        if parked is None or not _is_of(parked, browser):
            raise InvalidRequest("the sign-in took too long or was begun in another browser")
        return parked

    async def claim(self, parked_id: str, *, browser: str) -> ParkedRequest:
        """The same, where a request that came by cross-site POST is this browser's from now on."""
        parked = await self._read(parked_id)
        if parked is not None and parked.browser_digest is None:
            await self._change(parked_id, replace(parked, browser_digest=digest(browser)))
        return await self.find(parked_id, browser=browser)

    async def answer(
        self, parked_id: str, parked: ParkedRequest, answers: Answers
    ) -> ParkedRequest:
        """Note what the person has answered."""
        answered = replace(parked, answers=answers)
        await self._change(parked_id, answered)
        return answered

    async def forget(self, parked_id: str) -> None:
        """The request is answered."""
        await self.stores.kv.write(self.stores.parked.drop(digest(parked_id)))

    async def _read(self, parked_id: str) -> ParkedRequest | None:
        if len(parked_id) > _MAX_ID_LENGTH:
            return None
        (parked,) = await self.stores.kv.read(self.stores.parked.read(digest(parked_id)))
        return parked

    async def _change(self, parked_id: str, parked: ParkedRequest) -> None:
        """Keep it as it is now, for what is left of its time."""
        await self.stores.kv.write(self.stores.parked.rewrite(parked, digest(parked_id)))


def _is_of(parked: ParkedRequest, browser: str) -> bool:
    owner = parked.browser_digest
    return owner is not None and hmac.compare_digest(owner, digest(browser))
