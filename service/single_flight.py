"""Work done once for all who need it at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SingleFlight(Generic[K, V]):
    """Runs at most one task for each key; callers that come meanwhile share its result or its exception."""

    def __init__(self) -> None:
        self._running: dict[K, asyncio.Task[V]] = {}

    async def run(self, key: K, work: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """Return the result of the running task; a caller that is cancelled does not cancel it."""
        return await asyncio.shield(self.start(key, work))

    def start(self, key: K, work: Callable[[], Coroutine[Any, Any, V]]) -> asyncio.Task[V]:
        """Return the running task, or start the work. An exception of `work()` itself is not shared."""
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = asyncio.create_task(work())
            running.add_done_callback(lambda done: self._finish(key, done))
        return running

    def get(self, key: K) -> asyncio.Task[V] | None:
        return self._running.get(key)

    def cancel_all(self) -> None:
        for running in self._running.values():
            running.cancel()

    def _finish(self, key: K, done: asyncio.Task[V]) -> None:
        del self._running[key]
        if not done.cancelled():
            done.exception()  # marked as seen: each caller raises it, unless all of them were cancelled
