"""The seam: all that `store/keyvalue.py` needs of Redis, and what can go wrong behind it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Protocol

import msgspec

from service.store.verbs import Command


class RedisError(Exception):
    """Redis was not there, or refused."""


class ConnectionLost(RedisError):
    """No connection to Redis could be opened, or it was closed."""


class ResponseError(RedisError):
    """An error reply; it begins with Redis' word for what is wrong, such as READONLY."""


class NotAsked(ConnectionLost):
    """Redis has not answered lately, so nothing was sent."""


class Overwhelmed(RedisError):
    """Too many commands wait for Redis already; nothing was sent."""


class NotReplicated(RedisError):
    """Fewer replicas than are configured have confirmed a write in time; the master has executed it."""


UNREACHABLE = (ConnectionLost, OSError)
"""Redis was not there, or has not answered (TimeoutError is an OSError); it may or may not have executed the commands."""

TROUBLE = (RedisError, OSError)
"""Everything."""

KEEPS_KEYS = "noeviction"
"""The only maxmemory-policy by which no key goes that has not expired."""

KEYS_AT_ONCE = 1000
"""How many keys Redis looks at before it answers somebody else."""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Redis' report of its memory; of a Cluster, that of the server nearest to its limit."""

    used: int
    limit: int
    """0 if there is none."""
    evicting_policy: str | None
    """The maxmemory-policy, of any server, by which keys may go that have not expired; None if there is none."""


class Channel(Protocol):
    """Carries commands to Redis and replies back."""

    @property
    def circuit_open(self) -> bool:
        """Whether commands are refused at once, because Redis has not answered lately."""
        ...

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """Return one reply for each within so many seconds; an error reply is an exception among them."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """Redis behind one URL."""

    channel: Channel
    durable: Channel
    """For writes that wait for replicas; the same channel where none are configured."""
    tracked: Channel
    """For reads that are kept until Redis says that they have changed; the same channel where nothing is tracked."""
    find_masters: Callable[[float], Awaitable[Sequence[Channel]]] | None = None
    """Returns within so many seconds a channel to each master of a Cluster; None where one server has all keys."""

    async def find_keys(self, pattern: str, *, seconds: float) -> AsyncIterator[bytes]:
        """Return every key that matches; each command of many may take so many seconds."""
        for master in await self._masters(seconds):
            cursor: Any = 0
            while True:
                scan = ("SCAN", cursor, "MATCH", pattern, "COUNT", KEYS_AT_ONCE)
                cursor, keys = await _ask_one(master, scan, seconds)
                for key in keys:
                    yield key
                if not int(cursor):
                    break

    async def read_memory(self, *, seconds: float) -> Memory | None:
        """Ask all servers; return None if none tells."""
        masters = await self._masters(seconds)
        answers = await asyncio.gather(
            *[_ask_one(master, ("INFO", "memory"), seconds) for master in masters]
        )
        servers = [
            dict(line.partition(":")[::2] for line in answer.decode().splitlines())
            for answer in answers
        ]
        usages = [
            (int(server["used_memory"]), int(server.get("maxmemory", 0)))
            for server in servers
            if "used_memory" in server  # some servers that speak for Redis leave it out
        ]
        if not usages:
            return None
        used, limit = max(usages, key=lambda usage: usage[0] / (usage[1] or math.inf))
        policies = (server.get("maxmemory_policy", KEEPS_KEYS) for server in servers)
        evicting = next((each for each in policies if each != KEEPS_KEYS), None)
        return Memory(used=used, limit=limit, evicting_policy=evicting)

    def close(self) -> None:
        for channel in {self.channel, self.durable, self.tracked}:
            channel.close()

    async def _masters(self, seconds: float) -> Sequence[Channel]:
        return [self.channel] if self.find_masters is None else await self.find_masters(seconds)


async def _ask_one(channel: Channel, command: Command, seconds: float) -> Any:
    (reply,) = await channel.ask([command], seconds=seconds)
    if isinstance(reply, Exception):
        raise reply
    return reply
