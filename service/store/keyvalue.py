"""Reads and writes Redis, each call in one round trip."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from math import inf
from time import monotonic
from typing import Any, Protocol, TypeVar, overload

import structlog

from service.events.event import Event
from service.events.timings import EmitTiming, StoreAnswered, ignore_timing
from service.model.request_context import current_request
from service.protocol.errors import TemporarilyUnavailable
from service.store import verbs
from service.store.engine.engine import TROUBLE, Channel, Engine, Memory, NotAsked, ResponseError
from service.store.tracking import Kept, Tracking
from service.store.verbs import Command, Read

log = structlog.stdlib.get_logger(__name__)

LONGEST_CAUSE = 200
"""Characters of an error of Redis that the log has."""

SECONDS_OF_A_REFUSAL = 60
"""For how long a reason for which Redis has refused is shown, and not logged again."""

_REMEDIES = {
    "MOVED": ": it is one server of a Cluster; store.url has to begin with redis+cluster:// or rediss+cluster://",
}
"""Advice for the operator, by the first word of an error."""

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


class WriteWithEvents(Protocol):
    """Writes a change and its events in one round trip; returns the answers for the change."""

    def __call__(
        self, events: Sequence[Event], writes: Sequence[Command], *, durable: bool
    ) -> Awaitable[list[Any]]: ...


class StoreUnavailable(TemporarilyUnavailable):
    """Redis did not answer in time, or refused; this never counts as an empty answer."""


class KeyValue:
    """Redis as this service uses it: each call is one round trip, and a request has limited time for all."""

    def __init__(
        self,
        engine: Engine,
        *,
        timeout: float,
        tracking: Tracking | None = None,
        timed: EmitTiming = ignore_timing,
    ) -> None:
        self.tracking = tracking
        """The values that were read and are still right, without asking Redis again; None where nothing is tracked."""
        self._engine = engine
        self._channel = engine.channel
        self._durable = engine.durable
        self._timeout = timeout
        self._timed = timed
        self._away_since: float | None = None
        self._refused_at: dict[str, float] = {}
        """When Redis last answered with an error, by the error's first word."""
        self.failures = 0
        """Calls that have failed since the start."""
        self.waiting = 0
        """Calls that have no answer yet."""
        self.write_with_events: WriteWithEvents | None = None
        """Writes a change with its events for webhooks; None where no webhook is configured."""

    @property
    def seconds_away(self) -> float:
        """The time since Redis could not be reached; 0 while it can."""
        return 0.0 if self._away_since is None else monotonic() - self._away_since

    @property
    def recent_refusals(self) -> list[str]:
        """The first words of the errors that Redis has answered with lately, such as READONLY."""
        since = monotonic() - SECONDS_OF_A_REFUSAL
        return sorted(word for word, at in self._refused_at.items() if at > since)

    @property
    def circuit_open(self) -> bool:
        """Whether calls are refused at once, because Redis has not answered lately."""
        return self._channel.circuit_open or self._durable.circuit_open

    @overload
    def read(self, a: Read[A], b: Read[B], /) -> Awaitable[tuple[A | None, B | None]]: ...
    @overload
    def read(
        self, a: Read[A], b: Read[B], c: Read[C], /
    ) -> Awaitable[tuple[A | None, B | None, C | None]]: ...
    @overload
    def read(self, *reads: Read[T]) -> Awaitable[tuple[T | None, ...]]: ...
    def read(self, *reads: Read[Any]) -> Awaitable[tuple[Any, ...]]:
        """Return the decoded values of all these keys, None for each that is not there."""
        commands = [("GET", read.key) for read in reads]
        return self._ask(self._channel, commands, partial(_decode, reads))

    def read_tracked(
        self, a: Read[A], b: Read[B], /
    ) -> Awaitable[tuple[A | None, B | None, tuple[Kept, ...]]]:
        """Return what `read` returns; if it was kept in this process, also the entries that tell whether it is still right."""
        tracking = self.tracking
        if tracking is None or self._engine.tracked.circuit_open:
            commands = ("GET", a.key), ("GET", b.key)
            return self._ask(self._channel, commands, lambda values: (*_decode((a, b), values), ()))
        return self._read_tracked(tracking, a, b)

    async def _read_tracked(
        self, tracking: Tracking, a: Read[A], b: Read[B]
    ) -> tuple[A | None, B | None, tuple[Kept, ...]]:
        places = tracking.reserve(a.key), tracking.reserve(b.key)
        if places[0].is_known and places[1].is_known and tracking.is_fresh:
            return *_decode((a, b), (places[0].value, places[1].value)), places
        values = await self._ask(self._engine.tracked, [("GET", a.key), ("GET", b.key)])
        decoded = _decode((a, b), values)
        for place, value in zip(places, values, strict=True):
            place.value = value
        return *decoded, ()

    async def read_after(
        self, command: Command, a: Read[A], b: Read[B], /
    ) -> tuple[Any, tuple[A | None, B | None]]:
        """Return the answer of a command, and the decoded values of keys as they are after it."""
        answer, *values = await self._ask(self._channel, [command, ("GET", a.key), ("GET", b.key)])
        return answer, _decode((a, b), values)

    def write(
        self, *writes: Command, durable: bool = False, events: Sequence[Event] = ()
    ) -> Awaitable[list[Any]]:
        """Run all commands in this order; return one answer for each, as its verb says.

        A durable write is answered when as many replicas have it as `store.wait_for_replicas` says:
        for what must not be undone by a failover, such as the use of a code. Events that are certain to follow
        from the change are queued for webhooks in the same round trip; the caller emits them after it.
        """
        if events and self.write_with_events is not None:
            return self.write_with_events(events, writes, durable=durable)
        channel = self._durable if durable else self._channel
        if self.tracking is None:
            return self._ask(channel, writes)
        return self._ask(channel, writes, partial(_forget, self.tracking, writes))

    async def read_members(self, *commands: Command) -> list[tuple[str, ...]]:
        """Return the members of the indexes or queues that commands ask for."""
        found = await self._ask(self._channel, commands)
        return [to_members(members) for members in found]

    async def get(self, key: str) -> bytes | None:
        """Return the raw value of a key, for `replace`."""
        (value,) = await self.read(Read(key, bytes))
        return value

    async def replace(self, key: str, *, old: bytes | None, new: bytes) -> bool:
        """Compare and set a key, which keeps its expiry if it has one; return whether it was `old` and is now `new`."""
        (replaced,) = await self.write(verbs.replace(key, old, new))
        return bool(replaced)

    async def find_keys(self, pattern: str) -> AsyncIterator[str]:
        """Return every key that matches a glob pattern; walks the whole store, so only for operators."""
        try:
            async for key in self._engine.find_keys(pattern, seconds=self._timeout):
                yield key.decode()
        except TROUBLE as error:
            raise self._unavailable() from error

    async def find_key_batches(self, pattern: str, *, size: int) -> AsyncIterator[list[str]]:
        """Return the keys, so many at a time; SCAN may find one twice."""
        batch = list[str]()
        async for key in self.find_keys(pattern):
            batch.append(key)
            if len(batch) == size:
                yield batch
                batch = []
        if batch:
            yield batch

    async def ping(self) -> None:
        """Raise StoreUnavailable if Redis does not answer."""
        await self._ask(self._channel, [("PING",)])

    async def read_memory(self) -> Memory | None:
        """Return how full Redis is; None if it does not tell: it is unavailable, embedded, or its user may not ask."""
        try:
            async with asyncio.timeout(2 * self._timeout):
                return await self._engine.read_memory(seconds=self._timeout)
        except TROUBLE:
            return None

    async def close(self) -> None:
        """Close the connections."""
        self._engine.close()

    async def _ask(
        self,
        channel: Channel,
        commands: Sequence[Command],
        convert: Callable[[list[Any]], Any] | None = None,
    ) -> Any:
        """Return all replies, converted, or raise StoreUnavailable; a context manager would cost more than all of this.

        To convert them here costs less than in a coroutine around this one.
        """
        if not commands:
            return [] if convert is None else convert([])
        request, seconds = current_request.get(), self._timeout
        if request is not None and request.store_seconds < seconds:
            seconds = request.store_seconds
        trouble: str | None = "cancelled"
        self.waiting += 1
        began = monotonic()
        try:
            answers = await channel.ask(commands, seconds=seconds)
            if ResponseError in map(type, answers):
                raise next(answer for answer in answers if type(answer) is ResponseError)
            trouble = None
        except TROUBLE as error:
            trouble = type(error).__name__
            if type(error) is ResponseError:
                self._log_refusal(str(error))
            raise self._unavailable() from error
        finally:
            took = monotonic() - began
            self.waiting -= 1
            if request is not None:
                request.store_seconds -= took
            if trouble != NotAsked.__name__:
                self._timed(StoreAnswered(commands, took, trouble))
        self._away_since = None
        return answers if convert is None else convert(answers)

    def _unavailable(self) -> StoreUnavailable:
        self.failures += 1
        if self._away_since is None:
            self._away_since = monotonic()
        return StoreUnavailable("the store cannot be reached")

    def _log_refusal(self, error: str) -> None:
        """Log an error of Redis when its first word, such as READONLY, is a new one."""
        word, now = error.partition(" ")[0], monotonic()
        if now - self._refused_at.get(word, -inf) > SECONDS_OF_A_REFUSAL:
            # An unknown command is quoted with its arguments, among which are values.
            cause = error.partition(", with args")[0][:LONGEST_CAUSE]
            log.warning("redis refuses", cause=cause + _REMEDIES.get(word, ""))
        self._refused_at[word] = now


def to_members(answer: Sequence[bytes]) -> tuple[str, ...]:
    """Return the members of an index or queue, from the answer to a command that asks for them."""
    return tuple([member.decode() for member in answer])


def _forget(tracking: Tracking, writes: Sequence[Command], answers: list[Any]) -> list[Any]:
    """Forget what was kept of what is written: Redis tells of it, too, but perhaps a little later."""
    tracking.forget(filter(None, map(verbs.key_of, writes)))
    return answers


def _decode(reads: Sequence[Read[Any]], values: Sequence[bytes | None]) -> tuple[Any, ...]:
    both = zip(reads, values, strict=True)
    try:
        return tuple([None if value is None else read.decode(value) for read, value in both])
    except ValueError as error:
        raise _log_unreadable(reads, values) from error


def _log_unreadable(reads: Sequence[Read[Any]], values: Sequence[bytes | None]) -> StoreUnavailable:
    """Log the keys of the records that cannot be decoded; such a record never counts as missing."""
    for read, value in zip(reads, values, strict=True):
        try:
            if value is not None:
                read.decode(value)
        except ValueError:
            log.error("a record in the store cannot be read", key=read.key)  # noqa: TRY400 - it would show the value
    return StoreUnavailable("the store holds a record that cannot be read")
