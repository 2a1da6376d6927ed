"""An open connection to Redis: commands of one turn of the event loop are written at once, replies come in their order."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, cast

import hiredis
import msgspec
import structlog

from service.store.engine.engine import ConnectionLost, Overwhelmed, ResponseError
from service.store.tracking import Tracking
from service.store.verbs import Command

log = structlog.stdlib.get_logger(__name__)

MAX_WAITING = 10_000
"""Batches of commands without a reply; one more is refused at once, so that a slow Redis does not fill the memory."""

_Push = hiredis.PushNotification
_packed = cast("Callable[[Command], bytes]", hiredis.pack_command)  # whose own type is too narrow

TICK = 0.025
"""Seconds between two looks for commands that have waited too long."""

_OUTDATED = ("READONLY", "MASTERDOWN", "NOAUTH")
"""How an error reply begins if Redis has become a replica, or if credentials have expired: then a new connection is needed."""

SETTLING = 1.0
"""Seconds for which a new connection is not given up for another: the last search has found it."""

BEAT = 0.5
"""Seconds between two checks whether a connection still carries invalidations."""

TRUST = 2.0
"""Seconds for which tracked values count after such a check was sent, if it was answered."""


class _Batch(msgspec.Struct, gc=False):
    """Commands that were sent together, and the replies so far; a struct costs half of a dataclass to make."""

    asked: int
    due: float
    answered: asyncio.Future[list[Any]]
    replies: list[Any]


def words_of(reply: object) -> str:
    """Return an error reply without what it quotes: a server that does not know AUTH quotes the password."""
    return re.split("['`\"]", str(reply))[0].strip()


class Connection(asyncio.Protocol):
    """Sends commands in batches and matches their replies, which come in the same order.

    A batch whose caller has given up stays in the queue, so that no other caller gets its reply.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(replyError=self._make_error)
        self._waiting: deque[_Batch] = deque()
        self._outgoing: list[bytes] = []
        self._paused = False
        self._watching = False
        self._outdated = False
        self._transport: asyncio.Transport | None = None
        self._lost = ConnectionLost("the connection was lost as soon as it was there")
        """Why nothing can be asked, once that is so."""
        self.heard_at = self._opened_at = monotonic()
        """When Redis last sent anything; at first, when the connection was opened."""

    @property
    def is_open(self) -> bool:
        """Whether commands can be sent, and reach the master as an authenticated user."""
        return self._transport is not None and not self._outdated

    def ask(self, commands: Sequence[Command], *, due: float) -> asyncio.Future[list[Any]]:
        """Return the future replies; the commands are written with all others of this turn of the loop."""
        if self._transport is None:
            raise self._lost
        if len(self._waiting) >= MAX_WAITING:
            raise Overwhelmed("too many commands wait for Redis")
        # First, so that what cannot be packed enters no queue, and shifts no other replies.
        packed = [*map(_packed, commands)]
        batch = _Batch(len(commands), due, self._loop.create_future(), [])
        self._waiting.append(batch)
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing += packed
        if not self._watching:
            self._watching = True
            self._loop.call_later(TICK, self._watch, monotonic())
        return batch.answered

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def begin(self) -> None:
        """Start the work that needs an authenticated connection; on this one, nothing."""

    def data_received(self, data: bytes) -> None:
        self.heard_at = monotonic()
        try:
            self._reader.feed(data)
            next_reply = self._reader.gets
            while (reply := next_reply()) is not False:
                if type(reply) is _Push:
                    self.handle_push(reply)
                    continue
                if not self._waiting:  # a server that lets nobody in speaks first
                    self.abort(ConnectionLost(f"Redis says {words_of(reply)}"))
                    return
                batch = self._waiting[0]
                replies = batch.replies
                replies.append(reply)
                if len(replies) == batch.asked:
                    self._waiting.popleft()
                    if not batch.answered.done():
                        batch.answered.set_result(replies)
        except hiredis.HiredisError as error:
            self.abort(ConnectionLost(f"Redis does not speak RESP: {error}"))
        if self._outdated and not self._waiting:
            self.abort(ConnectionLost("Redis has become a replica, or asks for credentials again"))

    def handle_push(self, push: list[Any]) -> None:
        """Take what Redis says without being asked (RESP3); nothing on this connection."""

    def connection_lost(self, exc: Exception | None) -> None:
        said = [*self._waiting[0].replies] if self._waiting else []
        refusals = [words_of(reply) for reply in said if isinstance(reply, ResponseError)]
        reason = refusals[0] if refusals else exc or "it said nothing"
        self.abort(ConnectionLost(f"Redis closed the connection: {reason}"))

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._flush()

    def abort(self, error: Exception) -> None:
        """Close the connection and fail all batches that wait; ConnectionLost says that they may be sent again."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
            self._lost = ConnectionLost(str(error))
        waiting, self._waiting = self._waiting, deque()
        for batch in waiting:
            if not batch.answered.done():
                batch.answered.set_exception(error)

    def _flush(self) -> None:
        if self._transport is None or self._paused or not self._outgoing:
            return
        outgoing, self._outgoing = self._outgoing, []
        self._transport.write(b"".join(outgoing))

    def _make_error(self, text: str) -> ResponseError:
        """Return an error reply; replies are not searched for the few that matter here."""
        if text.startswith(_OUTDATED):
            self._outdated = self.heard_at - self._opened_at > SETTLING
        return ResponseError(text)

    def _watch(self, looked_at: float) -> None:
        """Fail batches that had waited too long at the last look; abort a connection that is silent.

        The time of the last look counts: if this process was paused, replies may have come that are yet to be read.
        What a silent Redis has not read it may still execute, later than what is sent on the next connection: so it is not
        sent again there.
        """
        for batch in self._waiting:
            if batch.due < looked_at and not batch.answered.done():
                batch.answered.set_exception(TimeoutError("Redis did not answer in time"))
        if self._waiting and self._waiting[0].due + 1 < looked_at:
            self.abort(TimeoutError("Redis has stopped answering"))
        self._watching = bool(self._waiting)
        if self._watching:
            self._loop.call_later(TICK, self._watch, monotonic())


class TrackingConnection(Connection):
    """Also receives invalidations of the keys that were read on it (CLIENT TRACKING, RESP3), in the right order."""

    def __init__(self, tracking: Tracking) -> None:
        super().__init__()
        self._tracking = tracking

    def begin(self) -> None:
        self._tracking.trust(self, until=0.0)
        begun = self.ask([("HELLO", "3"), ("CLIENT", "TRACKING", "ON")], due=monotonic() + TRUST)
        begun.add_done_callback(self._start_beating)

    def handle_push(self, push: list[Any]) -> None:
        if push[0] == b"invalidate":
            changed = cast("list[bytes] | None", push[1])  # None: Redis was emptied
            self._tracking.forget(None if changed is None else [key.decode() for key in changed])

    def abort(self, error: Exception) -> None:
        self._tracking.distrust(self)
        super().abort(error)

    def _start_beating(self, begun: asyncio.Future[list[Any]]) -> None:
        if begun.cancelled() or begun.exception() is not None:
            return
        refusals = [reply for reply in begun.result() if isinstance(reply, Exception)]
        if refusals:
            log.warning("redis does not track what is read", cause=str(refusals[0]))
            return
        self._beat()

    def _beat(self) -> None:
        """Ask for the role, which proves at once that the server still is the master.

        A master of a Cluster that is cut off from the others says so only when it is asked for a key.
        """
        if self._transport is None:
            return
        sent_at, key = monotonic(), self._tracking.any_key
        commands: list[Command] = [("HELLO",)] if key is None else [("HELLO",), ("EXISTS", key)]
        try:
            beat = self.ask(commands, due=sent_at + TRUST)
        except Exception:  # noqa: BLE001 - the connection is lost or overwhelmed: nothing is fresh then
            return
        beat.add_done_callback(lambda answered: self._hear(answered, sent_at))
        self._loop.call_later(BEAT, self._beat)

    def _hear(self, answered: asyncio.Future[list[Any]], sent_at: float) -> None:
        if answered.cancelled() or answered.exception() is not None:
            return
        state, *others = cast("list[dict[bytes, Any] | int | Exception]", answered.result())
        is_cut_off = any(str(other).startswith("CLUSTERDOWN") for other in others)
        if isinstance(state, dict) and state.get(b"role") == b"master" and not is_cut_off:
            self._tracking.trust(self, until=sent_at + TRUST)
        else:
            self.abort(ConnectionLost("Redis is no longer the master, or cut off from the others"))
