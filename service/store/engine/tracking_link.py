"""A connection on which Redis remembers what was read, and says when it changes (CLIENT TRACKING, RESP3)."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, cast

import structlog

from service.store.engine.engine import ConnectionLost
from service.store.engine.link import Link
from service.store.tracking import Tracking
from service.store.verbs import Command

log = structlog.stdlib.get_logger(__name__)

BEAT = 0.5
"""Seconds between two questions whether the connection still carries what Redis says."""

TRUST = 2.0
"""Seconds for which what is kept counts after such a question was sent, if it was answered."""


class TrackingLink(Link):
    """Sends questions as any other link; Redis tells of changes on the same connection, in the right order."""

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
        questions: list[Command] = [("HELLO",)] if key is None else [("HELLO",), ("EXISTS", key)]
        try:
            beat = self.ask(questions, due=sent_at + TRUST)
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
