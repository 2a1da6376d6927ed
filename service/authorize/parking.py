"""Parks requests until the user has answered: pages carry only a short id (RFC 9700 §4.16).

The store knows the id's hash only: the parameters are encrypted with a key that is made of the id.
"""

from __future__ import annotations

import hmac

import msgspec
from msgspec.structs import replace

from service.keys.sealing import Unreadable, open_by_id, seal_as_before, seal_by_id
from service.model.client import Client, client_mark
from service.model.handle import digest, new_selector
from service.model.session import Answers, SealedRequest
from service.protocol.authorization_details import PARAMETER as AUTHORIZATION_DETAILS
from service.protocol.errors import AlreadyAnswered, InvalidRequest
from service.protocol.octets import random_text
from service.protocol.params import Params
from service.store.room import Room
from service.store.stores import Stores
from service.store.verbs import Command, Read

PUSHED = "urn:ietf:params:oauth:request_uri:"
"""The beginning of a request_uri that this service has made (RFC 9126 §2.2)."""

LIFETIME = 15 * 60
"""Seconds that a user has for all the pages of one request, and for which its answer is remembered."""

MAX_BYTES = 8 * 1024
"""Of one request: a caller needs no secret to have it kept."""

Found = tuple[SealedRequest | None, str | None]
"""A request as it is kept, and the first attempt to answer it."""

_ANSWERED = "this was answered already: go back to the application"
_LONGER_THAN_ANY_ID = 65
_PURPOSE = b"parameters"
_decode = msgspec.json.Decoder(dict[str, tuple[str, ...]]).decode


def read_pushed_id(params: Params) -> str | None:
    """Return the id of the pushed request that request_uri names; None if it names none (RFC 9126 §4)."""
    uri = params.get("request_uri")
    return uri.removeprefix(PUSHED) if uri is not None and uri.startswith(PUSHED) else None


class ParkedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that waits for its user; it is validated anew when it goes on."""

    id: str
    params: Params
    record: SealedRequest

    @property
    def answers(self) -> Answers:
        return self.record.answers

    def with_answers(self, answers: Answers) -> ParkedRequest:
        """Return the request with what the user has answered by now."""
        return replace(self, record=replace(self.record, answers=answers))


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt to answer a parked request; of all attempts, at whatever replica, the first one wins."""

    stores: Stores
    place: str
    """The key under which the request is parked."""
    attempt: str = msgspec.field(default_factory=new_selector)

    @property
    def write(self) -> Command:
        """The attempt itself, to be written in the same step as what the answer grants; it uses the request up."""
        stores, place = self.stores, self.place
        parked = stores.parked.key(place)
        return stores.parked_answers.put_new_for(self.attempt, place, ttl=LIFETIME, used_up=parked)

    async def check(self, written: object) -> None:
        """Raise AlreadyAnswered unless the reply to `write` says that this attempt was the first."""
        first = self.stores.parked_answers.read(self.place)
        if not await self.stores.is_first(self.attempt, first, written):
            raise AlreadyAnswered(_ANSWERED)

    async def make(self) -> None:
        """Use the request up by an answer that grants nothing."""
        (written,) = await self.stores.kv.write(self.write)
        await self.check(written)


class Parking(msgspec.Struct, frozen=True, kw_only=True):
    """Keeps requests in the store, each for the browser that began it."""

    stores: Stores
    purpose: str
    """Requests that were parked for another purpose are not found."""
    parameters: frozenset[str]
    room: Room

    async def park(
        self,
        params: Params,
        *,
        browser: str | None,
        address: str,
    ) -> str:
        """Keep a request, and return its id; without a browser it is the first one's to continue it.

        Raise InvalidRequest if it is too long, TooManyRequests if its network has sent too many.
        """
        kept = self._encode(params)
        await self.room.take_for_request(len(kept), address=address)
        parked_id = _new_id(params)
        sealed = seal_as_before(kept, parked_id, _PURPOSE)
        write = self._put(sealed, parked_id, browser=browser, lifetime=LIFETIME)
        await self.stores.kv.write(write)
        return parked_id

    async def push(self, params: Params, client: Client, *, address: str) -> str:
        """Keep the request of a client for the first browser that comes with its id, which this returns (RFC 9126 §2.2)."""
        kept, lifetime = self._encode(params), client.pushed_authorization_lifetime
        parked_id = _new_id(params)
        sealed = seal_by_id(kept, parked_id, _PURPOSE)  # 0.2.0 took none that could be read there
        write = self._put(sealed, parked_id, browser=None, lifetime=lifetime)
        await self.room.take(client, write, address=address)
        await self.stores.kv.write(write)
        return parked_id

    def _encode(self, params: Params) -> bytes:
        """Return the parameters that are kept; raise InvalidRequest if they are too long."""
        kept = msgspec.json.encode(params.only(self.parameters).values)
        # They have a limit of their own.
        details = msgspec.json.encode(params.get(AUTHORIZATION_DETAILS) or "")
        if len(kept) - len(details) > MAX_BYTES:
            raise InvalidRequest("the parameters are too long to be kept while the user is asked")
        return kept

    def _put(self, sealed: str, parked_id: str, *, browser: str | None, lifetime: int) -> Command:
        owner = None if browser is None else digest(browser)
        record = SealedRequest(sealed=sealed, browser_digest=owner, answers=Answers())
        return self.stores.parked.put(record, self._place(parked_id), ttl=lifetime)

    async def find(self, parked_id: str, *, browser: str) -> ParkedRequest:
        """Return the request with this id; raise InvalidRequest if another browser began it."""
        return _of_browser(await self.read(parked_id), browser)

    def open(self, parked_id: str, found: Found, *, browser: str) -> ParkedRequest:
        """Return the request that was found by `reads`, likewise."""
        return _of_browser(_open(parked_id, found), browser)

    async def open_or_bind(self, parked_id: str, found: Found, *, browser: str) -> ParkedRequest:
        """Return the request that was found by `reads`, which becomes this browser's if it came by cross-site POST."""
        parked = _open(parked_id, found)
        if parked is not None and parked.record.browser_digest is None:
            await self._rewrite(parked_id, replace(parked.record, browser_digest=digest(browser)))
            return await self.find(parked_id, browser=browser)  # another may have been faster
        return _of_browser(parked, browser)

    async def keep_answers(self, parked: ParkedRequest) -> None:
        """Keep what the user has answered."""
        await self._rewrite(parked.id, parked.record)

    def claim(self, parked_id: str) -> Claim:
        return Claim(stores=self.stores, place=self._place(parked_id))

    async def read(self, parked_id: str) -> ParkedRequest | None:
        """Return the request for any browser; raise AlreadyAnswered if it was answered."""
        return _open(parked_id, await self.stores.kv.read(*self.reads(parked_id)))

    def reads(self, parked_id: str) -> tuple[Read[SealedRequest], Read[str]]:
        """Return what reads the request and the answer to it."""
        place, stores = self._place(parked_id), self.stores
        return stores.parked.read(place), stores.parked_answers.read(place)

    async def _rewrite(self, parked_id: str, record: SealedRequest) -> None:
        """Keep it as it is now, for what is left of its time."""
        await self.stores.kv.write(self.stores.parked.rewrite(record, self._place(parked_id)))

    def _place(self, parked_id: str) -> str:
        # What is longer is no id: nothing is kept there, whatever its length.
        return digest(f"{self.purpose} {parked_id[:_LONGER_THAN_ANY_ID]}")


def _new_id(params: Params) -> str:
    return random_text(16) + client_mark(params.get("client_id") or "")


def _of_browser(parked: ParkedRequest | None, browser: str) -> ParkedRequest:
    """Return the request; raise InvalidRequest if there is none, or if another browser began it."""
    owner = parked.record.browser_digest if parked else None
    if parked is None or owner is None or not hmac.compare_digest(owner, digest(browser)):
        raise InvalidRequest("the sign-in took too long or was begun in another browser")
    return parked


def _open(parked_id: str, found: Found) -> ParkedRequest | None:
    record, answer = found
    if answer is not None:
        raise AlreadyAnswered(_ANSWERED)
    if record is None:
        return None
    try:
        values = _decode(open_by_id(record.sealed, parked_id, _PURPOSE))
    except (Unreadable, msgspec.MsgspecError):
        return None
    return ParkedRequest(id=parked_id, params=Params(values), record=record)
