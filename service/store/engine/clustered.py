"""A Redis Cluster: each command goes to the server that has its key, over the line that all share to that server."""

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
"""How often one command follows its key to another server; more than once only while servers disagree."""


class Clustered:
    """Asks each server for what it has; an order across servers is kept by asking one after another."""

    def __init__(self, slots: Slots, line_to: Callable[[Address], Line]) -> None:
        """Take who has what, and what makes a line to a server."""
        self._slots = slots
        self._line_to = line_to
        self._lines: dict[Address, Line] = {}

    @property
    def circuit_open(self) -> bool:
        """Whether some server has not answered; what the others have goes on."""
        return any(line.circuit_open for line in self._lines.values())

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """The replies, in order; reads at once from all servers, writes in their order."""
        due = monotonic() + seconds
        await self._slots.know(due=due)
        parts = [list(part) for _, part in groupby(commands, self._slots.owner)]
        if len(parts) == 1:
            return await self._ask(parts[0], due=due)
        if all(command[0] == "GET" for command in commands):
            answers = await asyncio.gather(*[self._ask(part, due=due) for part in parts])
        else:
            answers = [await self._ask(part, due=due) for part in parts]
        return list(chain.from_iterable(answers))

    def close(self) -> None:
        """Give all connections back."""
        self._slots.close()
        for line in self._lines.values():
            line.close()

    async def _ask(self, commands: list[Command], *, due: float) -> list[Any]:
        """Ask the one server that has all these keys; another, if that has taken over meanwhile."""
        owner = self._slots.owner(commands[0])
        line = self._line(owner)
        known_to_be_away = line.circuit_open
        try:
            replies = await line.ask(commands, seconds=due - monotonic())
        except UNREACHABLE:
            self._slots.refresh()
            if known_to_be_away:
                raise
            owner = await self._successor(commands[0], owner, due=due)
            replies = await self._line(owner).ask(commands, seconds=due - monotonic())
        for index, reply in enumerate(replies):
            if isinstance(reply, Exception):
                replies[index] = await self._followed(commands[index], reply, owner, due=due)
        return replies

    async def _successor(self, command: Command, lost: Address, *, due: float) -> Address:
        """Who has taken over from a server that was lost."""
        await self._slots.ask_again(due=due)
        owner = self._slots.owner(command)
        if owner == lost:
            raise ConnectionLost("nobody has taken over yet")
        return owner

    async def _followed(
        self, command: Command, refusal: Exception, asked: Address, *, due: float
    ) -> Any:
        """The reply of the server that has the key now: for good (MOVED), or while slots move (ASK)."""
        reply: Any = refusal
        for _ in range(REDIRECTIONS):
            word, _, rest = str(reply).partition(" ")
            if not isinstance(reply, Exception) or word not in ("MOVED", "ASK"):
                break
            host, _, port = rest.split()[1].rpartition(":")
            asked = (host or asked[0], int(port))
            asking: list[Command] = [("ASKING",)] if word == "ASK" else []
            told = await self._line(asked).ask([*asking, command], seconds=due - monotonic())
            reply = told[-1]
            if word == "MOVED":
                self._slots.refresh()
        return reply

    def _line(self, address: Address) -> Line:
        line = self._lines.get(address)
        if line is None:
            self._forget_all_but(self._slots.masters)
            line = self._lines[address] = self._line_to(address)
        return line

    def _forget_all_but(self, masters: frozenset[Address]) -> None:
        for gone in self._lines.keys() - masters:
            self._lines.pop(gone).close()
