"""An open connection to Redis that all requests of an event loop share: what is asked in one turn is written at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, cast

import hiredis

from service.store.engine.errors import ConnectionLost, Overwhelmed
from service.store.verbs import Command

MAX_WAITING = 10_000
"""Questions without a reply; one more is refused at once, so that a slow Redis piles nothing up."""

_packed = cast("Callable[[Command], bytes]", hiredis.pack_command)  # whose own type is too narrow

TICK = 0.025
"""Seconds between two looks at who has waited too long."""

_NO_MASTER = ("READONLY", "MASTERDOWN")
"""How a refusal begins where Redis has become a replica: then the new master is to be looked for."""

SETTLING = 1.0
"""Seconds in which nobody looks again, because the last look has found this connection."""


@dataclass(slots=True)
class _Question:
    """Commands that were asked together, and the replies so far."""

    asked: int
    due: float
    answered: asyncio.Future[list[Any]]
    replies: list[Any] = field(default_factory=list[Any])


class Link(asyncio.Protocol):
    """A connection that is open: questions go out, replies come back in the same order.

    A question whose asker has given up stays in line, so that its reply is nobody else's.
    """

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        """Take over a connection that is authenticated and has nothing left to read."""
        self._writer = writer  # it would close the socket if nobody held it
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader()
        self._waiting: deque[_Question] = deque()
        self._outgoing: list[bytes] = []
        self._paused = False
        self._watching = False
        self._outdated = False
        self._transport: asyncio.Transport | None = cast("asyncio.Transport", writer.transport)
        self._transport.set_protocol(self)
        self.heard_at = self._opened_at = monotonic()
        """When Redis last said anything, and when it could first be asked."""

    @property
    def open(self) -> bool:
        """Whether questions can be asked, and it is the master that they reach."""
        return self._transport is not None and not self._outdated

    def ask(self, commands: Sequence[Command], *, due: float) -> asyncio.Future[list[Any]]:
        """The future replies; written together with all else that this turn of the loop asks."""
        if self._transport is None:
            raise ConnectionLost("the connection was lost as soon as it was there")
        if len(self._waiting) >= MAX_WAITING:
            raise Overwhelmed("too many questions wait for Redis")
        # First, so that what cannot be written stands in no line, and shifts nobody's replies.
        packed = [_packed(command) for command in commands]
        question = _Question(len(commands), due, self._loop.create_future())
        self._waiting.append(question)
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing += packed
        if not self._watching:
            self._watching = True
            self._loop.call_later(TICK, self._watch, monotonic())
        return question.answered

    def data_received(self, data: bytes) -> None:
        """Match replies with questions, in order."""
        self.heard_at = monotonic()
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
        if not question.answered.done():
            question.answered.set_result(question.replies)
        for reply in question.replies:
            if isinstance(reply, Exception) and str(reply).startswith(_NO_MASTER):
                self._outdated = self.heard_at - self._opened_at > SETTLING
        if self._outdated and not self._waiting:
            self.abort(ConnectionLost("Redis has become a replica"))

    def _watch(self, looked_at: float) -> None:
        """Tell those who had waited too long at the last look; a connection that says nothing at all is dead.

        Not those of now: if it was this process that stood still, what Redis has said is yet to be read.
        """
        for question in self._waiting:
            if question.due < looked_at and not question.answered.done():
                question.answered.set_exception(TimeoutError("Redis did not answer in time"))
        if self._waiting and self._waiting[0].due + 1 < looked_at:
            self.abort(ConnectionLost("Redis has stopped answering"))
        self._watching = bool(self._waiting)
        if self._watching:
            self._loop.call_later(TICK, self._watch, monotonic())
