"""The seam: all that `store/keyvalue.py` needs of Redis, and what can go wrong behind it.

`PipelinedLine` shows that redis-py alone could be behind it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from redis import exceptions

from service.store.verbs import Command

ConnectionLost = exceptions.ConnectionError
RedisError = exceptions.RedisError
ResponseError = exceptions.ResponseError

UNREACHABLE = (ConnectionLost, exceptions.TimeoutError, OSError)
"""Redis was not there, or has not answered; it may or may not have executed the commands."""

TROUBLE = (RedisError, OSError)
"""Everything; asyncio's TimeoutError is an OSError."""


class NotAsked(ConnectionLost):
    """Redis has not answered lately, so nothing was sent."""


class Overwhelmed(RedisError):
    """Too many commands wait for Redis already; nothing was sent."""


class NotReplicated(RedisError):
    """Fewer replicas than are configured have confirmed a write in time; the master has executed it."""


class Line(Protocol):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Redis behind one URL: lines for what is frequent, and a client of redis-py for what is rare."""

    client: Any
    line: Line
    durable: Line
    """For writes that wait for replicas; the same line where none are configured."""
    tracked: Line
    """For reads that are kept until Redis says that they have changed; the same line where nothing is tracked."""
    sentinels: Any = None
    trouble: ClassVar[tuple[type[Exception], ...]] = TROUBLE
    not_asked: ClassVar[type[Exception]] = NotAsked

    async def read_memory(self) -> tuple[int, int] | None:
        """Return the bytes in use and at most, of the server nearest to its limit; None if no server tells."""
        is_cluster = hasattr(self.client, "get_primaries")
        everywhere = {"target_nodes": "primaries"} if is_cluster else {}
        answer: dict[str, Any] = await self.client.info("memory", **everywhere)
        one_server = not is_cluster or "used_memory" in answer
        servers: list[dict[str, Any]] = [answer] if one_server else [*answer.values()]
        usages = [
            (int(server["used_memory"]), int(server.get("maxmemory", 0)))
            for server in servers
            if "used_memory" in server  # some servers that speak for Redis leave it out
        ]
        return max(usages, key=lambda usage: usage[0] / (usage[1] or math.inf), default=None)

    async def close(self) -> None:
        for line in {self.line, self.durable, self.tracked}:
            line.close()
        await self.client.aclose()
        if self.sentinels is not None:
            await self.sentinels.aclose()


class PipelinedLine:
    """Sends commands as one pipeline of redis-py; the embedded store has no other line."""

    circuit_open = False

    def __init__(self, client: Any) -> None:
        self._client = client
        client.response_callbacks.pop("SET", None)  # its replies stay as Redis gives them

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        async with asyncio.timeout(seconds):
            pipeline = self._client.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            replies: list[Any] = await pipeline.execute(raise_on_error=False)
            return replies

    def close(self) -> None:
        """Close nothing: the client holds the connections."""
