"""Values kept in this process for a while, and work done once for all who need it at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from threading import Lock
from time import time
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

V = TypeVar("V")


class BoundedCache(Generic[V]):
    """A mapping of at most `size` values, for any number of threads; the oldest one makes room for a new one."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: dict[Hashable, tuple[V, float]] = {}
        self._writing = Lock()

    def get(self, key: Hashable) -> V | None:
        """Return the value, or None if it is missing or its time is over."""
        entry = self._entries.get(key)
        return None if entry is None or entry[1] <= time() else entry[0]

    def put(self, key: Hashable, value: V, *, until: float) -> None:
        """Keep the value until this Unix time."""
        with self._writing:
            self._entries.pop(key, None)
            if len(self._entries) >= self._size:
                del self._entries[next(iter(self._entries))]
            self._entries[key] = value, until

    def clear(self) -> None:
        with self._writing:
            self._entries.clear()


class SingleFlight(Generic[V]):
    """Runs at most one task for each key in an event loop; callers that come meanwhile share its result or its exception."""

    def __init__(self) -> None:
        self._running = WeakKeyDictionary[
            asyncio.AbstractEventLoop, dict[Hashable, asyncio.Task[V]]
        ]()

    def is_running(self, key: Hashable) -> bool:
        """Whether a task of this key is running in this event loop."""
        return key in self._running.get(asyncio.get_running_loop(), {})

    async def run(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """Return the result of the running task; a caller that is cancelled does not cancel it."""
        running = self._running.setdefault(asyncio.get_running_loop(), {})
        task = running.get(key)
        if task is None:
            task = running[key] = asyncio.create_task(work())
            task.add_done_callback(lambda done: self._finish(running, key, done))
        return await asyncio.shield(task)

    @staticmethod
    def _finish(
        running: dict[Hashable, asyncio.Task[V]], key: Hashable, done: asyncio.Task[V]
    ) -> None:
        del running[key]
        if not done.cancelled():
            done.exception()  # marked as seen: each caller raises it, unless all of them were cancelled
