"""One shared connection to one Redis, opened when it is first needed, and again when it was lost.

A connection per request would cost a write, a timeout and a wake-up for each. redis-py opens
the connection: it knows TLS, AUTH, databases, unix sockets and Sentinel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, cast

from service.caching import SingleFlight
from service.store.engine.circuit import Circuit
from service.store.engine.errors import UNREACHABLE, ConnectionLost, NotAsked
from service.store.engine.link import TICK, Link
from service.store.verbs import Command


class Multiplexed:
    """Sends commands over one link; while Redis is away it refuses them at once, and probes."""

    def __init__(self, connect: Callable[[], Any], *, patience: float) -> None:
        """Take what makes a connection of redis-py, and the seconds for which Redis may be silent."""
        self._connect = connect
        self._patience = patience
        self._link: Link | None = None
        self._opening: SingleFlight[None, Link] = SingleFlight()
        self._closed = False
        self._circuit = Circuit(self._probe)

    @property
    def circuit_open(self) -> bool:
        return self._circuit.is_open

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """Return the replies, in order, or raise what redis-py or asyncio raises."""
        if self._circuit.is_open:
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
            if self._silent_for(began) >= self._patience:
                self._circuit.open(error)
            raise
        except UNREACHABLE as error:
            self._circuit.open(error)
            raise

    def close(self) -> None:
        """Close the connection; commands are refused from now on."""
        self._closed = True
        self._circuit.close()
        self._opening.cancel_all()
        if self._link is not None:
            self._link.abort(ConnectionLost("the store is closed"))

    def _silent_for(self, began: float) -> float:
        """Return for how long no answer has come, as far as a call that began then can tell."""
        heard = began if self._link is None else max(began, self._link.heard_at)
        return monotonic() - heard

    async def _probe(self) -> None:
        """Wait for any answer, even an error reply."""
        due = monotonic() + self._patience
        await (await self._open_link(due)).ask([("PING",)], due=due)

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
        connection = self._connect()
        await connection.connect()
        # redis-py opens a socket better than we would, but has no way to hand it over.
        writer = cast("asyncio.StreamWriter", connection._writer)  # noqa: SLF001
        connection._reader = connection._writer = None  # noqa: SLF001
        self._link = Link(writer)
        return self._link
