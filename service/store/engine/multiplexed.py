"""One shared connection to one Redis, opened when it is first needed, and again when it was lost.

A connection per request costs a write, a time-out and a wake-up for each. redis-py opens
the connection: it knows TLS, AUTH, databases, unix sockets and Sentinel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, cast

from service.caching.single_flight import SingleFlight
from service.store.engine.circuit import Circuit
from service.store.engine.errors import UNREACHABLE, ConnectionLost, NotAsked
from service.store.engine.link import TICK, Link
from service.store.verbs import Command


class Multiplexed:
    """Asks Redis over one link; while Redis is away it refuses at once, and looks by itself whether it is back."""

    def __init__(self, connect: Callable[[], Any], *, patience: float) -> None:
        """Take what makes a connection of redis-py, and for how many seconds Redis may say nothing."""
        self._connect = connect
        self._patience = patience
        self._link: Link | None = None
        self._opening: SingleFlight[None, Link] = SingleFlight()
        self._closed = False
        self._circuit = Circuit(self._probe)

    @property
    def circuit_open(self) -> bool:
        """Whether everything is refused, because Redis has not answered."""
        return self._circuit.open

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """The replies, in order; whatever redis-py or asyncio raise where there are none."""
        if self._circuit.open:
            raise NotAsked("Redis has not answered lately")
        began = monotonic()
        due = began + seconds
        try:
            link = self._link
            if link is None or not link.open:
                link = await self._opened(due)
            try:
                return await link.ask(commands, due=due)
            except ConnectionLost:
                # Once more: Redis may have closed an idle connection, and every verb bears repetition.
                return await (await self._opened(due)).ask(commands, due=due)
        except TimeoutError as error:
            if self._silent_for(began) >= self._patience:
                self._circuit.opens(error)
            raise
        except UNREACHABLE as error:
            self._circuit.opens(error)
            raise

    def close(self) -> None:
        """Give the connection back; who asks from now on is refused."""
        self._closed = True
        self._circuit.close()
        self._opening.cancel_all()
        if self._link is not None:
            self._link.abort(ConnectionLost("the store is closed"))

    def _silent_for(self, began: float) -> float:
        """For how long nobody has got any answer, as far as who began then can tell."""
        heard = began if self._link is None else max(began, self._link.heard_at)
        return monotonic() - heard

    async def _probe(self) -> None:
        """Any answer will do; an error is one, too."""
        due = monotonic() + self._patience
        await (await self._opened(due)).ask([("PING",)], due=due)

    async def _opened(self, due: float) -> Link:
        """The link; those who ask while it is being opened wait for the same one, until they are due."""
        if self._closed:
            raise ConnectionLost("the store is closed")
        if self._link is not None and self._link.open:
            return self._link
        opening = self._opening.start(None, self._open)
        while not opening.done():
            # Before the wait, so that a process that stood still itself lets it go on.
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
