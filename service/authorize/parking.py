"""Requests that wait for a person: pages carry only a short id (RFC 9700 §4.16).

The store knows the id's hash, and so nothing of what is asked: the parameters are encrypted with a
key that is made of the id.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec
from cryptography.fernet import Fernet, InvalidToken

from service.authorize.claim import ANSWERED, LIFETIME, Claim
from service.model.client import MARK_LENGTH, client_mark
from service.model.handle import digest
from service.model.network import network_of
from service.model.session import Answers, ParkedRequest, SealedRequest
from service.protocol.errors import AlreadyAnswered, InvalidRequest
from service.protocol.params import Params
from service.store.rate_limit import RateLimit
from service.store.stores import Stores

MAX_BYTES = 8 * 1024
"""What is kept of one request: whoever sends it needs no secret."""

KIB = 1024
_MAX_ID_LENGTH = 64
_decode = msgspec.json.Decoder(dict[str, tuple[str, ...]]).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Parking:
    """Keeps requests in the store, each for the browser that began it."""

    stores: Stores
    purpose: str
    """What the requests are for; what was parked for another purpose is not found here."""
    parameters: frozenset[str]
    """What such a request can say; nothing else is kept."""
    rate_limit: RateLimit
    """For each network, which is all that is known of a stranger."""

    async def park(self, params: Params, *, browser: str | None, address: str) -> str:
        """Keep a request; its id. Without a browser it belongs to the first that continues it.

        InvalidRequest where it is too long, TooManyRequests where its network has sent too many.
        """
        kept = {name: params.values[name] for name in params if name in self.parameters}
        size = len(msgspec.json.encode(kept))
        if size > MAX_BYTES:
            raise InvalidRequest("the parameters are too long to be kept while a person is asked")
        await self.rate_limit.count(network_of(address), 1 + size // KIB)
        parked_id = secrets.token_urlsafe(16) + client_mark(params.get("client_id") or "")
        parked = ParkedRequest(
            params=kept, browser_digest=None if browser is None else digest(browser)
        )
        sealed = self._sealed(parked_id, parked)
        await self.stores.kv.write(
            self.stores.parked.put(sealed, self._place(parked_id), ttl=LIFETIME)
        )
        return parked_id

    async def find(self, parked_id: str, *, browser: str) -> ParkedRequest:
        """The request with this id, in the browser that began it; InvalidRequest otherwise.

        AlreadyAnswered where it was.
        """
        parked = await self._read(parked_id)
        if parked is None or not _is_of(parked, browser):
            raise InvalidRequest("the sign-in took too long or was begun in another browser")
        return parked

    async def find_or_bind(self, parked_id: str, *, browser: str) -> ParkedRequest:
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

    def claim(self, parked_id: str) -> Claim:
        """An attempt to answer the request."""
        return Claim(stores=self.stores, place=self._place(parked_id))

    async def _read(self, parked_id: str) -> ParkedRequest | None:
        if len(parked_id) > _MAX_ID_LENGTH:
            return None
        place, stores = self._place(parked_id), self.stores
        sealed, answer = await stores.kv.read(
            stores.parked.read(place), stores.parked_answers.read(place)
        )
        if answer is not None:
            raise AlreadyAnswered(ANSWERED)
        return None if sealed is None else self._opened(parked_id, sealed)

    async def _change(self, parked_id: str, parked: ParkedRequest) -> None:
        """Keep it as it is now, for what is left of its time."""
        sealed = self._sealed(parked_id, parked)
        await self.stores.kv.write(self.stores.parked.rewrite(sealed, self._place(parked_id)))

    def _place(self, parked_id: str) -> str:
        return digest(f"{self.purpose} {parked_id}")

    def _sealed(self, parked_id: str, parked: ParkedRequest) -> SealedRequest:
        return SealedRequest(
            sealed=_cipher(parked_id).encrypt(msgspec.json.encode(parked.params)).decode(),
            browser_digest=parked.browser_digest,
            answers=parked.answers,
        )

    def _opened(self, parked_id: str, sealed: SealedRequest) -> ParkedRequest | None:
        try:
            params: Mapping[str, tuple[str, ...]] = _decode(
                _cipher(parked_id).decrypt(sealed.sealed)
            )
        except (InvalidToken, msgspec.MsgspecError):
            return None
        return ParkedRequest(
            params=params, browser_digest=sealed.browser_digest, answers=sealed.answers
        )


def mark_in(parked_id: str) -> str:
    """Return the mark of the client whose request has, or had, this id."""
    return parked_id[-MARK_LENGTH:]


def _cipher(parked_id: str) -> Fernet:
    """Under another hash of the id than the one that the store knows."""
    return Fernet(urlsafe_b64encode(hmac.digest(parked_id.encode(), b"parameters", "sha256")))


def _is_of(parked: ParkedRequest, browser: str) -> bool:
    owner = parked.browser_digest
    return owner is not None and hmac.compare_digest(owner, digest(browser))
