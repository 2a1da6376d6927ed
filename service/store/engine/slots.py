"""Finds the server of a Cluster that has a slot, by what the servers themselves say."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from redis.crc import key_slot

from service.caching import SingleFlight
from service.store.engine.errors import TROUBLE, ConnectionLost
from service.store.verbs import Command

Address = tuple[str, int]

COUNT = 16384
"""Slots of every Cluster."""

PATIENCE = 0.5
"""Seconds for one server to answer; then another is asked."""

REST = 0.2
"""Seconds between two rounds of questions at least."""


class Slots:
    """The last answer; the servers are asked again when one redirects or is lost."""

    def __init__(self, seeds: Iterable[Address], connect: Callable[[Address], Any]) -> None:
        """Take the servers of the URL, and what makes a connection of redis-py to one."""
        self._seeds = frozenset(seeds)
        self._connect = connect
        self._servers = self._seeds
        self._owners: list[Address | None] = []
        self._asking: SingleFlight[None, None] = SingleFlight()
        self._asked_at = 0.0

    @property
    def masters(self) -> frozenset[Address]:
        """The servers that have slots; none before the first answer."""
        return frozenset(owner for owner in self._owners if owner is not None)

    def find_owner(self, command: Command) -> Address:
        """Return the server that has the key of a command; any server if it has no key."""
        key = _key(command)
        slot = random.randrange(COUNT) if key is None else key_slot(key.encode())  # noqa: S311 - no secret
        owner = self._owners[slot]
        if owner is None:
            self.refresh()  # no server will redirect us
            raise ConnectionLost("no server of the Cluster has this slot")
        return owner

    async def ask_once(self, *, due: float) -> None:
        """Wait for the first answer."""
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
        """Begin to ask the servers, once for all callers at the same time, and not too often."""
        if monotonic() - self._asked_at >= REST or not self._owners:
            self._asking.start(None, self._ask)

    def close(self) -> None:
        """Stop asking."""
        self._asking.cancel_all()

    async def _ask(self) -> None:
        servers = sorted(self._servers | self._seeds)
        try:
            for address in random.sample(servers, len(servers)):
                with suppress(*TROUBLE):
                    self._learn(await self._ask_server(address), address[0])
                    return
            raise ConnectionLost("no server of the Cluster answers")
        finally:
            self._asked_at = monotonic()

    async def _ask_server(self, address: Address) -> Sequence[Any]:
        connection = self._connect(address)
        try:
            async with asyncio.timeout(PATIENCE):
                await connection.connect()
                await connection.send_command("CLUSTER", "SLOTS")
                ranges: Sequence[Any] = await connection.read_response()
                return ranges
        finally:
            await connection.disconnect(nowait=True)

    def _learn(self, ranges: Sequence[Any], asked: str) -> None:
        """Take in the ranges of slots, each with its master first and then its replicas."""
        owners: list[Address | None] = [None] * COUNT
        servers: set[Address] = set()
        for first, last, *nodes in ranges:
            addresses = [(_host(node[0]) or asked, int(node[1])) for node in nodes]
            servers |= set(addresses)
            owners[first : last + 1] = [addresses[0]] * (last + 1 - first)
        self._owners, self._servers = owners, frozenset(servers)


def _key(command: Command) -> str | None:
    """Return the one key that a command touches; in a script it comes after the text and the number of keys."""
    if command[0] == "PING":
        return None
    return str(command[3 if command[0] == "EVAL" else 1])


def _host(sent: bytes | None) -> str | None:
    """Return the host; a server that does not know its own name sends nothing, or a question mark."""
    return None if sent in (None, b"", b"?") else sent.decode()
