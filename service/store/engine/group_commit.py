"""Writes that count only when replicas have them, too: what comes while one WAIT runs goes together before the next.

WAIT holds its connection up, so these writes have one of their own; one WAIT for each would
leave only as many per second as there are round trips to a replica.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from service.store.engine.errors import TROUBLE, NotReplicated, Overwhelmed
from service.store.engine.link import MAX_WAITING
from service.store.engine.multiplexed import Multiplexed
from service.store.verbs import Command

PATIENCE = 0.9
"""How much of the time that is left a replica may take; in the rest the refusal reaches us."""


@dataclass(slots=True)
class _Commit:
    """Commands that were asked together, and who waits for them."""

    commands: Sequence[Command]
    due: float
    answered: asyncio.Future[list[Any]]


class GroupCommit:
    """Asks over a line of its own, and answers when so many replicas have what was written."""

    def __init__(self, line: Multiplexed, *, replicas: int) -> None:
        """Take the line, which nobody else may use."""
        self._line = line
        self._replicas = replicas
        self._collected: list[_Commit] = []
        self._committing: asyncio.Task[None] | None = None

    @property
    def circuit_open(self) -> bool:
        """Whether everything is refused, because Redis has not answered."""
        return self._line.circuit_open

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """The replies, once they are safe; NotReplicated where too few replicas said so in time."""
        if len(self._collected) >= MAX_WAITING:
            raise Overwhelmed("too many writes wait for replicas")
        answered: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._collected.append(_Commit(commands, monotonic() + seconds, answered))
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit_all())
        async with asyncio.timeout(seconds):
            return await answered

    def close(self) -> None:
        """Give the connection back."""
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
        """All in one round trip, told as one: a lost connection repeats them together, WAIT included.

        It may take as long as the last of them has; who has less gives up alone.
        """
        seconds = max(each.due for each in commits) - monotonic()
        commands = [command for each in commits for command in each.commands]
        wait = ("WAIT", self._replicas, max(int(seconds * PATIENCE * 1000), 1))
        try:
            *replies, confirmed = await self._line.ask([*commands, wait], seconds=seconds)
        except TROUBLE as error:
            for each in commits:
                _fail(each, error)
            return
        for each in commits:
            own, replies = replies[: len(each.commands)], replies[len(each.commands) :]
            if isinstance(confirmed, Exception):
                _fail(each, confirmed)
            elif confirmed < self._replicas:
                _fail(each, NotReplicated(f"{confirmed} replicas have confirmed the write"))
            elif not each.answered.done():
                each.answered.set_result(own)


def _fail(commit: _Commit, error: Exception) -> None:
    if not commit.answered.done():
        commit.answered.set_exception(error)
