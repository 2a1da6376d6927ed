"""Values kept in this process for a while, and work done once for all who need it at the same time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from math import inf
from time import time
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """A mapping of at most `size` values; the value that was stored first makes room for a new one."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries = OrderedDict[
            K, tuple[V, float]
        ]()  # evicting the oldest entry of a dict is slow

    def get(self, key: K) -> V | None:
        """Return the value, or None if it was never stored or its time is over."""
        entry = self._entries.get(key)
        return None if entry is None or entry[1] <= time() else entry[0]

    def get_stale(self, key: K) -> V | None:
        """Return the value even if its time is over; None if it was never stored or has made room."""
        entry = self._entries.get(key)
        return None if entry is None else entry[0]

    def put(self, key: K, value: V, *, seconds: float = inf) -> None:
        """Store a value for so many seconds, in the place of an older one."""
        self._entries.pop(key, None)
        if len(self._entries) >= self._size:
            self._entries.popitem(last=False)
        self._entries[key] = value, time() + seconds

    def clear(self) -> None:
        self._entries.clear()


class SingleFlight(Generic[K, V]):
    """Runs at most one task for each key; callers that come meanwhile share its result or its exception."""

    def __init__(self) -> None:
        self._running: dict[K, asyncio.Task[V]] = {}

    async def run(self, key: K, work: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """Return the result of the running task; a caller that is cancelled does not cancel it."""
        import asyncio  # noqa: PLC0415 - for fetches, which few who cache something need

        return await asyncio.shield(self.start(key, work))

    def start(self, key: K, work: Callable[[], Coroutine[Any, Any, V]]) -> asyncio.Task[V]:
        """Return the running task, or start the work. An exception of `work()` itself is not shared."""
        import asyncio  # noqa: PLC0415 - likewise

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
