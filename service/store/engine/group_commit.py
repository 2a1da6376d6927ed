"""Confirms writes only when replicas have them; writes that come while one WAIT runs go together before the next.

WAIT blocks its connection, so these writes have their own; one WAIT for each would leave only as
many writes per second as there are round trips to a replica.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from time import monotonic
from typing import Any

import msgspec

from service.store.engine.engine import TROUBLE, Line, NotReplicated, Overwhelmed
from service.store.engine.link import MAX_WAITING
from service.store.verbs import Command

PATIENCE = 0.9
"""Share of the time that is left which a replica may take; in the rest the refusal reaches us."""


class _Commit(msgspec.Struct):
    """Commands that were sent together, and the future of their replies."""

    commands: Sequence[Command]
    due: float
    answered: asyncio.Future[list[Any]]


class GroupCommit:
    """Sends commands over its own line, and answers when enough replicas have executed them."""

    def __init__(self, line: Line, *, replicas: int) -> None:
        """Take the line, which nothing else may use."""
        self._line = line
        self._replicas = replicas
        self._collected: list[_Commit] = []
        self._committing: asyncio.Task[None] | None = None

    @property
    def circuit_open(self) -> bool:
        return self._line.circuit_open

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
        self._line.close()

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
        wait = ("WAIT", self._replicas, max(int(seconds * PATIENCE * 1000), 1))
        try:
            *replies, confirmed = await self._line.ask([*commands, wait], seconds=seconds)
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
