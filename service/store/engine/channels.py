"""Carries the commands of all requests to one Redis over one connection, and writes that have to reach replicas over another."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context
from itertools import islice
from time import monotonic
from typing import Any

import msgspec
import structlog

from service.single_flight import SingleFlight
from service.store.engine.connection import MAX_WAITING, TICK, Connection
from service.store.engine.engine import (
    TROUBLE,
    UNREACHABLE,
    Channel,
    ConnectionLost,
    NotAsked,
    NotReplicated,
    Overwhelmed,
)
from service.store.engine.server import Connect
from service.store.verbs import Command

log = structlog.stdlib.get_logger(__name__)

FIRST_PROBE, LAST_PROBE = 0.05, 0.5
"""Seconds between two probes: at first, and after some that failed; give or take a half."""

RESTS = (0.04, 0.08)
"""Seconds at most between attempts to connect, before Redis counts as away."""

REPLICAS_SHARE = 0.9
"""Share of the time that is left which a replica may take; in the rest the refusal reaches the caller."""


class Multiplexed:
    """Sends commands over one connection, which is opened when it is first needed, and again when it was lost.

    A connection per request would cost a write, a timeout and a wake-up for each. While Redis is
    away, commands are refused at once (circuit breaker), until Redis answers a probe.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        patience: float,
        make_connection: Callable[[], Connection] = Connection,
    ) -> None:
        """Take what connects, and the seconds for which Redis may be silent."""
        self._connect = connect
        self._make_connection = make_connection
        self._patience = patience
        self._connection: Connection | None = None
        self._opening: SingleFlight[None, Connection] = SingleFlight()
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
            connection = self._connection
            if connection is None or not connection.is_open:
                connection = await self._open_connection(due)
            try:
                return await connection.ask(commands, due=due)
            except ConnectionLost:
                # Once more: Redis may have closed an idle connection, and every verb bears repetition.
                return await (await self._open_connection(due)).ask(commands, due=due)
        except TimeoutError as error:
            heard = began if self._connection is None else max(began, self._connection.heard_at)
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
        if self._connection is not None:
            self._connection.abort(ConnectionLost("the store is closed"))

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
                await (await self._open_connection(due)).ask([("PING",)], due=due)
            except Exception:  # noqa: BLE001, S112 - whatever it is: nothing else closes the circuit
                continue
            self.circuit_open = False
        log.warning("redis answers again", seconds=round(monotonic() - began, 1))

    async def _open_connection(self, due: float) -> Connection:
        """Return the open connection; all callers wait for the same one to be opened, each until it is due."""
        if self._closed:
            raise ConnectionLost("the store is closed")
        if self._connection is not None and self._connection.is_open:
            return self._connection
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

    async def _open(self) -> Connection:
        for rest in RESTS:
            with suppress(*UNREACHABLE):
                return await self._open_once()
            await asyncio.sleep(random.uniform(0, rest))  # noqa: S311 - no secret
        return await self._open_once()

    async def _open_once(self) -> Connection:
        self._connection = await self._connect(self._make_connection)
        return self._connection


class _Commit(msgspec.Struct):
    """Commands that were sent together, and the future of their replies."""

    commands: Sequence[Command]
    due: float
    answered: asyncio.Future[list[Any]]


class GroupCommit:
    """Sends writes over its own channel, and answers when enough replicas have executed them (WAIT).

    WAIT blocks its connection: so writes that come while one runs are sent together before the next.
    One WAIT for each would leave only as many writes per second as there are round trips to a replica.
    """

    def __init__(self, channel: Channel, *, replicas: int) -> None:
        """Take the channel, which nothing else may use."""
        self._channel = channel
        self._replicas = replicas
        self._collected: list[_Commit] = []
        self._committing: asyncio.Task[None] | None = None

    @property
    def circuit_open(self) -> bool:
        return self._channel.circuit_open

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """Return the replies once they are safe; NotReplicated if too few replicas confirm in time."""
        if len(self._collected) >= MAX_WAITING:
            raise Overwhelmed("too many writes wait for replicas")
        answered: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._collected.append(_Commit(commands, monotonic() + seconds, answered))
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit_all())
        async with asyncio.timeout(seconds):
            return await answered

    def close(self) -> None:
        if self._committing is not None:
            self._committing.cancel()
        self._channel.close()

    async def _commit_all(self) -> None:
        try:
            while self._collected:
                collected, self._collected = self._collected, []
                wanted = [each for each in collected if not each.answered.done()]
                if wanted:
                    await self._commit(wanted)
        finally:
            self._committing = None

    async def _commit(self, commits: Sequence[_Commit]) -> None:
        """Send all in one round trip: after a lost connection they are repeated together, with WAIT.

        It may take as long as the most patient caller has; the others give up alone.
        """
        seconds = max(each.due for each in commits) - monotonic()
        commands = [command for each in commits for command in each.commands]
        wait = ("WAIT", self._replicas, max(int(seconds * REPLICAS_SHARE * 1000), 1))
        try:
            *replies, confirmed = await self._channel.ask([*commands, wait], seconds=seconds)
            if isinstance(confirmed, Exception):
                raise confirmed
            if confirmed < self._replicas:
                raise NotReplicated(f"{confirmed} replicas have confirmed the write")
        except TROUBLE as error:
            for each in commits:
                if not each.answered.done():
                    each.answered.set_exception(error)
            return
        remaining = iter(replies)
        for each in commits:
            own = list(islice(remaining, len(each.commands)))
            if not each.answered.done():
                each.answered.set_result(own)
