"""Which server of a Cluster has which slot, as the servers themselves say."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from redis.crc import key_slot

from service.caching.single_flight import SingleFlight
from service.store.engine.errors import TROUBLE, ConnectionLost
from service.store.verbs import Command

Address = tuple[str, int]

COUNT = 16384
"""Slots of every Cluster."""

PATIENCE = 0.5
"""Seconds that one server may take to tell; then another is asked."""

REST = 0.2
"""Seconds between two rounds of asking at least; most who ask for one are told by the last."""


class Slots:
    """The last that was heard; it is asked for again when a server redirects or is lost."""

    def __init__(self, seeds: Iterable[Address], connect: Callable[[Address], Any]) -> None:
        """Take the servers that the URL names, and what makes a connection of redis-py to one."""
        self._seeds = frozenset(seeds)
        self._connect = connect
        self._servers = self._seeds
        self._owners: list[Address | None] = []
        self._asking: SingleFlight[None, None] = SingleFlight()
        self._asked_at = 0.0

    @property
    def masters(self) -> frozenset[Address]:
        """Every server that has slots; none before the first answer."""
        return frozenset(owner for owner in self._owners if owner is not None)

    def owner(self, command: Command) -> Address:
        """Who has the key of a command; anybody, where it has none."""
        key = _key(command)
        slot = random.randrange(COUNT) if key is None else key_slot(key.encode())  # noqa: S311 - no secret
        owner = self._owners[slot]
        if owner is None:
            self.refresh()  # nobody will redirect us: there is nobody to ask
            raise ConnectionLost("no server of the Cluster has this slot")
        return owner

    async def know(self, *, due: float) -> None:
        """Ask, unless there is an answer already."""
        if not self._owners:
            await self.ask_again(due=due)

    async def ask_again(self, *, due: float) -> None:
        """Wait for a new answer, unless the last is new enough."""
        self.refresh()
        asking = self._asking.get(None)
        if asking is not None:
            async with asyncio.timeout(due - monotonic()):
                await asyncio.shield(asking)

    def refresh(self) -> None:
        """Begin to ask the servers, once for all who want to know at the same time, and not too often."""
        if monotonic() - self._asked_at >= REST or not self._owners:
            self._asking.start(None, self._ask)

    def close(self) -> None:
        """Ask no more."""
        self._asking.cancel_all()

    async def _ask(self) -> None:
        servers = sorted(self._servers | self._seeds)
        try:
            for address in random.sample(servers, len(servers)):
                with suppress(*TROUBLE):
                    self._learn(await self._told_by(address), address[0])
                    return
            raise ConnectionLost("no server of the Cluster answers")
        finally:
            self._asked_at = monotonic()

    async def _told_by(self, address: Address) -> Sequence[Any]:
        connection = self._connect(address)
        try:
            async with asyncio.timeout(PATIENCE):
                await connection.connect()
                await connection.send_command("CLUSTER", "SLOTS")
                told: Sequence[Any] = await connection.read_response()
                return told
        finally:
            await connection.disconnect(nowait=True)

    def _learn(self, told: Sequence[Any], asked: str) -> None:
        """Ranges of slots, each with its master first and then its replicas."""
        owners: list[Address | None] = [None] * COUNT
        servers: set[Address] = set()
        for first, last, *nodes in told:
            addresses = [(_host(node[0]) or asked, int(node[1])) for node in nodes]
            servers |= set(addresses)
            owners[first : last + 1] = [addresses[0]] * (last + 1 - first)
        self._owners, self._servers = owners, frozenset(servers)


def _key(command: Command) -> str | None:
    """The one key that a command touches; a script has its own after its text and their number."""
    if command[0] == "PING":
        return None
    return str(command[3 if command[0] == "EVAL" else 1])


def _host(told: bytes | None) -> str | None:
    """A server that does not know its own name says nothing, or a question mark."""
    return None if told in (None, b"", b"?") else told.decode()
