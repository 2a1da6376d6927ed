"""A Redis Cluster: each command goes to the server that has its key, over the channel to that server."""

from __future__ import annotations

import asyncio
import random
from binascii import crc_hqx
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, groupby
from time import monotonic
from typing import Any

import structlog

from service.single_flight import SingleFlight
from service.store.engine.connection import TRUST, words_of
from service.store.engine.engine import TROUBLE, UNREACHABLE, Channel, ConnectionLost, ResponseError
from service.store.engine.server import Address, Server
from service.store.tracking import Tracking
from service.store.verbs import Command, key_of

log = structlog.stdlib.get_logger(__name__)

COUNT = 16384
"""Slots of every Cluster."""

PATIENCE = 0.5
"""Seconds for one server to say which server has which slot."""

HEAD_START = 0.05
"""Seconds until another server is asked too: one that stands still must not cost the time of a request."""

REST = 0.2
"""Seconds at least between two lookups of the slots."""

REDIRECTIONS = 3
"""Servers that one command follows its key to; more than one only while servers disagree."""


class Clustered:
    """Splits commands by server; writes keep their order, because servers are asked one after another.

    Which server has a slot is known from their last answer; they are asked again when one
    redirects, is lost, or says that the Cluster is down.
    """

    def __init__(
        self,
        seeds: Iterable[Address],
        server_at: Callable[[Address], Server],
        channel_to: Callable[[Address], Channel],
        tracking: Tracking | None = None,
    ) -> None:
        """Take the servers of the URL, and what returns a server at an address, and a channel to it.

        What `tracking` keeps counts only while the servers say that the slots are where they were.
        """
        self._seeds = self._servers = frozenset(seeds)
        self._server_at = server_at
        self._channel_to = channel_to
        self._channels: dict[Address, Channel] = {}
        self._owners: list[Address | None] = []
        self._doubted: set[Address] = set()
        """Servers that have said that the Cluster is down, and may be cut off from the others; they are asked last."""
        self._asking: SingleFlight[None, None] = SingleFlight()
        self._asked_at = 0.0
        self._says_nothing = False
        self._tracking = tracking
        self._next_lookup: asyncio.TimerHandle | None = None

    @property
    def circuit_open(self) -> bool:
        """Whether some server has not answered lately; the others go on."""
        return any(channel.circuit_open for channel in self._channels.values())

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """Return the replies, in order; reads go to all servers at once, writes in their order."""
        due = monotonic() + seconds
        if not self._owners:
            await self._find_slots(due=due)
        parts = [(owner, list(part)) for owner, part in groupby(commands, self._find_owner)]
        if len(parts) == 1:
            return await self._ask(*parts[0], due=due)
        if all(command[0] == "GET" for command in commands):
            answers = await asyncio.gather(*[self._ask(*part, due=due) for part in parts])
            return list(chain.from_iterable(answers))
        return await self._write(parts, due=due)

    async def find_masters(self, seconds: float) -> list[Channel]:
        """Return a channel to each server that has slots."""
        if not self._owners:
            await self._find_slots(due=monotonic() + seconds)
        return [self._channel(owner) for owner in sorted(set(filter(None, self._owners)))]

    def close(self) -> None:
        self._asking.cancel_all()
        if self._next_lookup is not None:
            self._next_lookup.cancel()
        for channel in self._channels.values():
            channel.close()

    async def _write(
        self, parts: Iterable[tuple[Address, list[Command]]], *, due: float
    ) -> list[Any]:
        """Return the replies; what follows a write that a server has refused is not executed by another server."""
        answers: list[Any] = []
        for part in parts:
            answers += await self._ask(*part, due=due)
            for answer in answers:
                if isinstance(answer, ResponseError):
                    raise answer
        return answers

    async def _ask(self, owner: Address, commands: list[Command], *, due: float) -> list[Any]:
        """Ask the one server that has all these keys, or the one that has taken over from it meanwhile."""
        channel = self._channel(owner)
        known_to_be_away = channel.circuit_open
        try:
            replies = await channel.ask(commands, seconds=due - monotonic())
        except UNREACHABLE as error:
            self._refresh_slots()
            if known_to_be_away:
                raise
            lost = owner
            await self._find_slots(due=due)
            owner = self._find_owner(commands[0])
            if owner == lost:
                raise ConnectionLost("no server has taken over yet") from error
            replies = await self._channel(owner).ask(commands, seconds=due - monotonic())
        for index, reply in enumerate(replies):
            if isinstance(reply, Exception):
                reply = await self._follow(commands[index], reply, owner, due=due)  # noqa: PLW2901
                replies[index] = reply
                if isinstance(reply, Exception):
                    break  # nor is a write to be executed that comes after a refused one
        return replies

    async def _follow(
        self, command: Command, refusal: Exception, asked: Address, *, due: float
    ) -> Any:
        """Return the reply of the server that has the key now: for good (MOVED), while slots move (ASK), or after a failover."""
        reply: Any = refusal
        for _ in range(REDIRECTIONS):
            word = str(reply).partition(" ")[0]
            if not isinstance(reply, Exception) or word not in ("MOVED", "ASK", "CLUSTERDOWN"):
                break
            if word == "CLUSTERDOWN":
                doubted, asked = asked, await self._find_successor(asked, command, due=due)
                if asked == doubted:
                    break
            else:
                host, _, port = str(reply).split()[2].rpartition(":")
                asked = (host or asked[0], int(port))
            asking: list[Command] = [("ASKING",)] if word == "ASK" else []
            replies = await self._channel(asked).ask([*asking, command], seconds=due - monotonic())
            reply = replies[-1]
            if word == "MOVED":
                self._refresh_slots()
        return reply

    async def _find_successor(self, doubted: Address, command: Command, *, due: float) -> Address:
        """Return the server that has the key in the eyes of those that do not say that the Cluster is down."""
        self._doubted.add(doubted)
        await self._find_slots(due=due)
        return self._find_owner(command)

    def _channel(self, address: Address) -> Channel:
        channel = self._channels.get(address)
        if channel is None:
            for gone in self._channels.keys() - set(self._owners):
                self._channels.pop(gone).close()
            channel = self._channels[address] = self._channel_to(address)
        return channel

    def _find_owner(self, command: Command) -> Address:
        """Return the server that has the key of a command; any server if it has no key."""
        key = key_of(command)
        slot = random.randrange(COUNT) if key is None else _slot_of(key.encode())  # noqa: S311 - no secret
        owner = self._owners[slot]
        if owner is None:
            self._refresh_slots()  # no server will redirect us
            raise ConnectionLost("no server of the Cluster has this slot")
        return owner

    async def _find_slots(self, *, due: float) -> None:
        """Wait until the servers have reported their slots again, unless the last answer is new enough."""
        self._refresh_slots()
        asking = self._asking.get(None)
        if asking is not None:
            async with asyncio.timeout(due - monotonic()):
                await asyncio.shield(asking)

    def _refresh_slots(self) -> None:
        """Begin to ask the servers, once for all callers at the same time, and not too often."""
        if monotonic() - self._asked_at >= REST or not self._owners:
            self._asking.start(None, self._ask_servers)

    async def _ask_servers(self) -> None:
        """Take what the first server says; they are asked in any order, soon after one another, the doubted ones last."""
        servers = random.sample(sorted(self._servers), len(self._servers))
        servers.sort(key=self._doubted.__contains__)
        began = monotonic()
        asked = [
            asyncio.create_task(self._ask_server(address, later=place * HEAD_START))
            for place, address in enumerate(servers)
        ]
        try:
            reasons: list[str] = []
            for answered in asyncio.as_completed(asked):
                try:
                    self._learn(*await answered)
                except TROUBLE as error:
                    reasons.append(str(error))
                    continue
                if self._tracking is not None:
                    self._tracking.trust(self, until=began + TRUST)
                self._says_nothing = False
                return
            raise self._log_silence(reasons)
        finally:
            for lookup in asked:
                lookup.cancel()
            self._asked_at = monotonic()
            if self._tracking is not None:
                self._ask_again_in_time()

    def _log_silence(self, reasons: list[str]) -> ConnectionLost:
        """Log once, until a server answers again, why none does."""
        cause = f"no server of the Cluster says who has which slot: {'; '.join(reasons)}"
        if not self._says_nothing:
            log.warning("redis does not answer", cause=cause)
        self._says_nothing = True
        return ConnectionLost(cause)

    def _ask_again_in_time(self) -> None:
        """Ask before what is kept counts no longer."""
        if self._next_lookup is not None:
            self._next_lookup.cancel()
        loop = asyncio.get_running_loop()
        self._next_lookup = loop.call_later(TRUST / 2, self._refresh_slots)

    async def _ask_server(self, address: Address, *, later: float) -> tuple[Sequence[Any], Address]:
        await asyncio.sleep(later)
        server = self._server_at(address)
        try:
            async with asyncio.timeout(PATIENCE):
                ranges = await server.ask(("CLUSTER", "SLOTS"))
        except TimeoutError:
            raise ConnectionLost(f"{server.name} did not answer in time") from None
        except ResponseError as error:
            raise ConnectionLost(f"{server.name} refuses CLUSTER: {words_of(error)}") from error
        if not ranges:
            raise ConnectionLost(f"{server.name} knows no server that has slots")
        return ranges, address

    def _learn(self, ranges: Sequence[Any], asked: Address) -> None:
        """Take in the ranges of slots, each with its master first and then its replicas."""
        owners: list[Address | None] = [None] * COUNT
        servers = set(self._seeds)
        for first, last, *nodes in ranges:
            # A server that does not know its own name sends nothing, or a question mark.
            addresses = [
                (asked[0] if name in (None, b"", b"?") else name.decode(), int(port))
                for name, port, *_ in nodes
            ]
            servers |= set(addresses)
            owners[first : last + 1] = [addresses[0]] * (last + 1 - first)
        if self._tracking is not None and owners != self._owners:
            for gone in self._channels.keys() - set(owners):
                self._channels.pop(gone).close()
            self._tracking.forget(None)  # the new owners were not asked, and do not tell of changes
        self._owners, self._servers = owners, frozenset(servers)
        if asked not in self._doubted:
            self._doubted.difference_update(filter(None, owners))


def _slot_of(key: bytes) -> int:
    """Return the slot of a key: of its part in braces, if it has one that is not empty."""
    _, _, after = key.partition(b"{")
    tag, brace, _ = after.partition(b"}")
    return crc_hqx(tag if brace and tag else key, 0) % COUNT
