"""One shared connection to one Redis, opened when it is first needed, and again when it was lost.

A connection per request would cost a write, a timeout and a wake-up for each.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context
from time import monotonic
from typing import Any

import structlog

from service.caching import SingleFlight
from service.store.engine.engine import UNREACHABLE, ConnectionLost, NotAsked
from service.store.engine.link import TICK, Link
from service.store.engine.server import Connect
from service.store.verbs import Command

log = structlog.stdlib.get_logger(__name__)

FIRST_PROBE, LAST_PROBE = 0.05, 0.5
"""Seconds between two probes: at first, and after some that failed; give or take a half."""

RESTS = (0.04, 0.08)
"""Seconds at most between attempts to connect, before Redis counts as away."""


class Multiplexed:
    """Sends commands over one link; while Redis is away it refuses them at once, and probes."""

    def __init__(
        self,
        connect: Connect,
        *,
        patience: float,
        make_link: Callable[[], Link] = Link,
    ) -> None:
        """Take what connects, and the seconds for which Redis may be silent."""
        self._connect = connect
        self._make_link = make_link
        self._patience = patience
        self._link: Link | None = None
        self._opening: SingleFlight[None, Link] = SingleFlight()
        self._probing: asyncio.Task[None] | None = None
        self._closed = False
        self.circuit_open = False
        """Whether Redis has failed to answer, and not yet answered a probe, be it by an error reply."""

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """Return the replies, in order, or raise one of TROUBLE."""
        if self.circuit_open:
            raise NotAsked("Redis has not answered lately")
        began = monotonic()
        due = began + seconds
        try:
            link = self._link
            if link is None or not link.is_open:
                link = await self._open_link(due)
            try:
                return await link.ask(commands, due=due)
            except ConnectionLost:
                # Once more: Redis may have closed an idle connection, and every verb bears repetition.
                return await (await self._open_link(due)).ask(commands, due=due)
        except TimeoutError as error:
            heard = began if self._link is None else max(began, self._link.heard_at)
            if monotonic() - heard >= self._patience:
                self._open_circuit(error)
            raise
        except UNREACHABLE as error:
            self._open_circuit(error)
            raise

    def close(self) -> None:
        """Close the connection; commands are refused from now on."""
        self._closed = True
        self._opening.cancel_all()
        if self._probing is not None:
            self._probing.cancel()
        if self._link is not None:
            self._link.abort(ConnectionLost("the store is closed"))

    def _open_circuit(self, cause: BaseException) -> None:
        if self.circuit_open or self._closed:
            return
        self.circuit_open = True
        log.warning("redis does not answer", cause=str(cause) or type(cause).__name__)
        # In a context of its own, so that it is not traced as a part of the request that came first.
        self._probing = asyncio.create_task(self._probe_until_answered(), context=Context())

    async def _probe_until_answered(self) -> None:
        began, wait = monotonic(), FIRST_PROBE
        while self.circuit_open:
            # Spread, so that many replicas do not all probe a Redis that has just come back at once.
            await asyncio.sleep(wait * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            wait = min(2 * wait, LAST_PROBE)
            due = monotonic() + self._patience
            try:
                await (await self._open_link(due)).ask([("PING",)], due=due)
            except Exception:  # noqa: BLE001, S112 - whatever it is: nothing else closes the circuit
                continue
            self.circuit_open = False
        log.warning("redis answers again", seconds=round(monotonic() - began, 1))

    async def _open_link(self, due: float) -> Link:
        """Return the open link; all callers wait for the same one to be opened, each until it is due."""
        if self._closed:
            raise ConnectionLost("the store is closed")
        if self._link is not None and self._link.is_open:
            return self._link
        opening = self._opening.start(None, self._open)
        while not opening.done():
            # Before the wait, so that a process that was paused itself does not give up.
            looked_at = monotonic()
            await asyncio.wait({opening}, timeout=TICK)
            if due < looked_at and not opening.done():
                raise TimeoutError("Redis could not be connected to in time")
        if opening.cancelled():
            raise ConnectionLost("the store is closed")
        return opening.result()

    async def _open(self) -> Link:
        for rest in RESTS:
            with suppress(*UNREACHABLE):
                return await self._open_once()
            await asyncio.sleep(random.uniform(0, rest))  # noqa: S311 - no secret
        return await self._open_once()

    async def _open_once(self) -> Link:
        self._link = await self._connect(self._make_link)
        return self._link
