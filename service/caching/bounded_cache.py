"""Keeps a limited number of values in memory, each for a limited time."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import inf
from time import monotonic
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """A mapping of at most `size` values; the value that was stored first makes room for a new one."""

    def __init__(self, size: int, *, now: Callable[[], float] = monotonic) -> None:
        self._size = size
        self._now = now
        self._entries: dict[K, tuple[V, float]] = {}

    def get(self, key: K) -> V | None:
        """Return the value, or None if there is no value or its time is over."""
        entry = self._entries.get(key)
        return None if entry is None or entry[1] <= self._now() else entry[0]

    def get_stale(self, key: K) -> V | None:
        """Return the value even if its time is over; None if it was never stored or has made room."""
        entry = self._entries.get(key)
        return None if entry is None else entry[0]

    def put(self, key: K, value: V, *, seconds: float = inf) -> None:
        """Store a value for so many seconds, in the place of an older one."""
        self._entries.pop(key, None)
        if len(self._entries) >= self._size:
            del self._entries[next(iter(self._entries))]
        self._entries[key] = value, self._now() + seconds

    def clear(self) -> None:
        """Forget all values."""
        self._entries.clear()
