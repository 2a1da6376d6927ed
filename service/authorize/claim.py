"""The one answer to a parked request: however many forms are posted at once, one of them counts (RFC 9700 §4.7)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from service.model.handle import new_selector
from service.protocol.errors import AlreadyAnswered
from service.store.keyvalue import StoreUnavailable
from service.store.stores import Stores
from service.store.verbs import Command

LIFETIME = 15 * 60
"""Seconds that a person has for all the pages of one request, and for which its answer is remembered."""

ANSWERED = "this was answered already: go back to the application"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An attempt to answer a parked request; of all attempts, at whatever replica, the first one wins."""

    stores: Stores
    place: str
    """Where the request is kept."""
    attempt: str = field(default_factory=new_selector)

    @property
    def write(self) -> Command:
        """The attempt itself, to be written in the same step as what the answer grants."""
        return self.stores.parked_answers.put_new(self.attempt, self.place, ttl=LIFETIME)

    async def check(self, written: object) -> None:
        """Raise AlreadyAnswered unless the reply to `write` says that this attempt was the first."""
        first = self.stores.parked_answers.read(self.place)
        # Where the store's client has repeated the command, what is there already may be ours.
        if not written and await self.stores.kv.read(first) != (self.attempt,):
            raise AlreadyAnswered(ANSWERED)
        with suppress(StoreUnavailable):  # it ends by itself, and cannot be answered again
            await self.stores.kv.write(self.stores.parked.drop(self.place))

    async def make(self) -> None:
        """Use the request up by an answer that grants nothing."""
        (written,) = await self.stores.kv.write(self.write)
        await self.check(written)
