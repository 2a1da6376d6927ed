"""A Redis Cluster: each command goes to the server that has its key, over the shared line to that server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import chain, groupby
from time import monotonic
from typing import Any

from service.store.engine.engine import Line
from service.store.engine.errors import UNREACHABLE, ConnectionLost
from service.store.engine.slots import Address, Slots
from service.store.verbs import Command

REDIRECTIONS = 3
"""Servers that one command follows its key to; more than one only while servers disagree."""


class Clustered:
    """Splits commands by server; writes keep their order, because servers are asked one after another."""

    def __init__(self, slots: Slots, line_to: Callable[[Address], Line]) -> None:
        self._slots = slots
        self._line_to = line_to
        self._lines: dict[Address, Line] = {}

    @property
    def circuit_open(self) -> bool:
        """Whether some server has not answered lately; the others go on."""
        return any(line.circuit_open for line in self._lines.values())

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """Return the replies, in order; reads go to all servers at once, writes in their order."""
        due = monotonic() + seconds
        await self._slots.ask_once(due=due)
        parts = [list(part) for _, part in groupby(commands, self._slots.find_owner)]
        if len(parts) == 1:
            return await self._ask(parts[0], due=due)
        if all(command[0] == "GET" for command in commands):
            answers = await asyncio.gather(*[self._ask(part, due=due) for part in parts])
        else:
            answers = [await self._ask(part, due=due) for part in parts]
        return list(chain.from_iterable(answers))

    def close(self) -> None:
        self._slots.close()
        for line in self._lines.values():
            line.close()

    async def _ask(self, commands: list[Command], *, due: float) -> list[Any]:
        """Ask the one server that has all these keys, or the one that has taken over from it meanwhile."""
        owner = self._slots.find_owner(commands[0])
        line = self._line(owner)
        known_to_be_away = line.circuit_open
        try:
            replies = await line.ask(commands, seconds=due - monotonic())
        except UNREACHABLE:
            self._slots.refresh()
            if known_to_be_away:
                raise
            owner = await self._find_successor(commands[0], owner, due=due)
            replies = await self._line(owner).ask(commands, seconds=due - monotonic())
        for index, reply in enumerate(replies):
            if isinstance(reply, Exception):
                replies[index] = await self._follow(commands[index], reply, owner, due=due)
        return replies

    async def _find_successor(self, command: Command, lost: Address, *, due: float) -> Address:
        """Return the server that has taken over from one that was lost."""
        await self._slots.ask_again(due=due)
        owner = self._slots.find_owner(command)
        if owner == lost:
            raise ConnectionLost("no server has taken over yet")
        return owner

    async def _follow(
        self, command: Command, refusal: Exception, asked: Address, *, due: float
    ) -> Any:
        """Return the reply of the server that has the key now: for good (MOVED), or while slots move (ASK)."""
        reply: Any = refusal
        for _ in range(REDIRECTIONS):
            word, _, rest = str(reply).partition(" ")
            if not isinstance(reply, Exception) or word not in ("MOVED", "ASK"):
                break
            host, _, port = rest.split()[1].rpartition(":")
            asked = (host or asked[0], int(port))
            asking: list[Command] = [("ASKING",)] if word == "ASK" else []
            replies = await self._line(asked).ask([*asking, command], seconds=due - monotonic())
            reply = replies[-1]
            if word == "MOVED":
                self._slots.refresh()
        return reply

    def _line(self, address: Address) -> Line:
        line = self._lines.get(address)
        if line is None:
            for gone in self._lines.keys() - self._slots.masters:
                self._lines.pop(gone).close()
            line = self._lines[address] = self._line_to(address)
        return line
