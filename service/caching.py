"""Values kept in this process for a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from math import inf
from time import time
from typing import Generic, TypeVar

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
