"""One connection for all requests of an event loop: what is asked in one turn is written at once.

A connection per request costs a write, a time-out and a wake-up for each. redis-py opens
the connection: it knows TLS, AUTH, databases, unix sockets and Sentinel.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, cast

import hiredis
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import ResponseError

from service.store.verbs import Command

MAX_WAITING = 10_000
"""Questions without a reply; one more is refused at once, so that a slow Redis piles nothing up."""

_packed = cast("Callable[[Command], bytes]", hiredis.pack_command)  # whose own type is too narrow

TICK = 0.05
"""Seconds between two looks at who has waited too long."""


@dataclass(slots=True)
class _Question:
    """Commands that were asked together, and the replies so far."""

    asked: int
    due: float
    answered: asyncio.Future[list[Any]]
    replies: list[Any] = field(default_factory=list[Any])


class _Link(asyncio.Protocol):
    """A connection that is open: questions go out, replies come back in the same order.

    A question whose asker has given up stays in line, so that its reply is nobody else's.
    """

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer  # it would close the socket if nobody held it
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader()
        self._waiting: deque[_Question] = deque()
        self._outgoing: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self._watching = False

    @property
    def open(self) -> bool:
        """Whether questions can be asked."""
        return self._transport is not None

    def use(self, transport: asyncio.Transport) -> None:
        """Take over a connection that is authenticated and has nothing left to read."""
        transport.set_protocol(self)
        self._transport = transport

    def ask(self, commands: Sequence[Command], *, due: float) -> asyncio.Future[list[Any]]:
        """The future replies; written together with all else that this turn of the loop asks."""
        if len(self._waiting) >= MAX_WAITING:
            raise ConnectionLost("too many questions wait for Redis")
        question = _Question(len(commands), due, self._loop.create_future())
        self._waiting.append(question)
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing.extend(map(_packed, commands))
        if not self._watching:
            self._watching = True
            self._loop.call_later(TICK, self._watch)
        return question.answered

    def data_received(self, data: bytes) -> None:
        """Match replies with questions, in order."""
        try:
            self._reader.feed(data)
            while (reply := self._reader.gets()) is not False:
                question = self._waiting[0]
                question.replies.append(reply)
                if len(question.replies) == question.asked:
                    self._waiting.popleft()
                    self._answer(question)
        except hiredis.HiredisError as error:
            self.abort(ConnectionLost(f"Redis does not speak RESP: {error}"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail everybody who waits, at once."""
        self.abort(ConnectionLost(f"Redis closed the connection: {exc}"))

    def pause_writing(self) -> None:
        """The socket takes no more; questions collect until it does."""
        self._paused = True

    def resume_writing(self) -> None:
        """The socket takes more."""
        self._paused = False
        self._flush()

    def abort(self, error: Exception) -> None:
        """Give the connection up."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
        waiting, self._waiting = self._waiting, deque()
        for question in waiting:
            if not question.answered.done():
                question.answered.set_exception(error)

    def _flush(self) -> None:
        if self._transport is None or self._paused or not self._outgoing:
            return
        outgoing, self._outgoing = self._outgoing, []
        self._transport.write(b"".join(outgoing))

    def _answer(self, question: _Question) -> None:
        if question.answered.done():
            return
        refusal = _refusal(question.replies)
        if refusal is None:
            question.answered.set_result(question.replies)
            return
        question.answered.set_exception(ResponseError(str(refusal)))
        if str(refusal).startswith(
            "READONLY"
        ):  # a master that is one no more: look for the new one
            self.abort(ConnectionLost("Redis has become a replica"))

    def _watch(self) -> None:
        """Tell those who have waited too long; a connection that says nothing at all is dead."""
        now = monotonic()
        for question in self._waiting:
            if question.due < now and not question.answered.done():
                question.answered.set_exception(TimeoutError("Redis did not answer in time"))
        if self._waiting and self._waiting[0].due + 1 < now:
            self.abort(ConnectionLost("Redis has stopped answering"))
        self._watching = bool(self._waiting)
        if self._watching:
            self._loop.call_later(TICK, self._watch)


def _refusal(replies: list[Any]) -> Exception | None:
    """The first reply that is an error."""
    for reply in replies:
        if isinstance(reply, Exception):
            return reply
    return None


class Multiplexed:
    """Asks Redis over one shared connection, opened when first needed and again when it was lost."""

    def __init__(self, pool: Any) -> None:
        """Take a pool of redis-py, to make connections with."""
        self._pool = pool
        self._link: _Link | None = None
        self._opening: asyncio.Task[_Link] | None = None

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """The replies, in order; whatever redis-py or asyncio raise where there are none."""
        due = monotonic() + seconds
        link = self._link
        if link is None or not link.open:
            link = await self._opened(due)
        try:
            return await link.ask(commands, due=due)
        except ConnectionLost:
            # Once more: Redis may have closed an idle connection, and every verb bears repetition.
            return await (await self._opened(due)).ask(commands, due=due)

    async def close(self) -> None:
        """Give the connection back."""
        if self._opening is not None:
            self._opening.cancel()
        if self._link is not None:
            self._link.abort(ConnectionLost("the store is closed"))
        await self._pool.disconnect()

    async def _opened(self, due: float) -> _Link:
        """The connection; those who ask while it is being opened wait for the same one, until they are due."""
        if self._link is not None and self._link.open:
            return self._link
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(self._opening_is_over)
        async with asyncio.timeout(due - monotonic()):
            return await asyncio.shield(self._opening)

    async def _open(self) -> _Link:
        connection = self._pool.make_connection()
        await connection.connect()
        # redis-py opens a socket better than we would, but has no way to hand it over.
        writer = cast("asyncio.StreamWriter", connection._writer)  # noqa: SLF001
        connection._reader = connection._writer = None  # noqa: SLF001
        link = _Link(writer)
        link.use(cast("asyncio.Transport", writer.transport))
        self._link = link
        return link

    def _opening_is_over(self, opening: asyncio.Task[_Link]) -> None:
        self._opening = None
        if not opening.cancelled():
            opening.exception()  # each who waited has raised it; nobody may have
