"""Commands of one request as one pipeline of redis-py: for the embedded store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from service.store.verbs import Command


class Pipelined:
    """Sends what is asked together as one pipeline."""

    circuit_open = False
    """It is always there."""

    def __init__(self, redis: Any) -> None:
        """Take a client of redis-py; its replies to SET are left as Redis gives them."""
        self._redis = redis
        redis.response_callbacks.pop("SET", None)

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        """The replies, in order."""
        async with asyncio.timeout(seconds):
            pipeline = self._redis.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            replies: list[Any] = await pipeline.execute(raise_on_error=False)
            return replies

    def close(self) -> None:
        """Nothing is held."""
