"""The embedded store, by fakeredis, which answers through redis-py."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from fakeredis import FakeAsyncRedis
from redis import exceptions

from service.store.engine.engine import ConnectionLost, ResponseError
from service.store.verbs import Command

MAX_CONNECTIONS = 100_000
"""Requests that may ask at once, each by a connection; more than this process can hold."""


def open_line() -> PipelinedLine:
    """Return the way to an empty store in this process."""
    return PipelinedLine(FakeAsyncRedis(max_connections=MAX_CONNECTIONS))


class PipelinedLine:
    """Sends commands as one pipeline of redis-py."""

    circuit_open = False

    def __init__(self, client: Any) -> None:
        self._client = client
        for command in ("SET", "SCAN"):
            client.response_callbacks.pop(command, None)  # replies stay as Redis gives them

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        async with asyncio.timeout(seconds):
            pipeline = self._client.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            try:
                replies: list[Any] = await pipeline.execute(raise_on_error=False)
            except exceptions.RedisError as error:
                raise ConnectionLost(str(error)) from error
        return [
            ResponseError(str(reply)) if isinstance(reply, exceptions.RedisError) else reply
            for reply in replies
        ]

    def close(self) -> None:
        """Return at once: the embedded store has no connection."""
