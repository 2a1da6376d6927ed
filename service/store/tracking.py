"""Keeps what was read in this process, until Redis says that it has changed (docs/decisions/store/tracked-reads.md).

It is kept as Redis has it: decoded, a token would take four times the memory, and the garbage collector would look at it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from time import monotonic
from typing import Any

import msgspec

_UNKNOWN = object()


# There are many, and nothing that they hold leads back to them.
class Kept(msgspec.Struct, gc=False):
    """The value of one key, or the place for it while Redis is asked."""

    value: Any = _UNKNOWN
    is_current: bool = True
    """False from the moment at which Redis has said that the key has changed."""

    @property
    def is_known(self) -> bool:
        return self.value is not _UNKNOWN


class Tracking:
    """The values of many keys; they count only while every connection has proven that it is alive.

    A place is taken before Redis is asked. If the key changes before the answer is used, the place
    is gone already, and the value is not kept.
    """

    def __init__(self, entries: int) -> None:
        self.entries = entries
        # A dict would look for its first for long.
        self._places: OrderedDict[str, Kept] = OrderedDict()
        self._trusted: dict[object, float] = {}
        """Until when each connection is known to carry what Redis says."""
        self._fresh_until = 0.0

    @property
    def is_fresh(self) -> bool:
        """Whether what is kept counts now."""
        return monotonic() < self._fresh_until

    def __len__(self) -> int:
        """Return how many values are kept and count."""
        return len(self._places) if self.is_fresh else 0

    @property
    def any_key(self) -> str | None:
        """A key that was read, to ask a server for."""
        return next(iter(self._places), None)

    def reserve(self, key: str) -> Kept:
        """Return the place of a key, to be asked for now unless its value is known; for a new one the oldest makes room."""
        kept = self._places.get(key)
        if kept is None:
            if len(self._places) >= self.entries:
                self._places.popitem(last=False)[1].is_current = False
            kept = self._places[key] = Kept()
        return kept

    def forget(self, keys: Iterable[str] | None) -> None:
        """Drop the values of keys that have changed; None for all, if Redis was emptied or a connection lost."""
        if keys is None:
            places, self._places = self._places, OrderedDict()
            for kept in places.values():
                kept.is_current = False
            return
        for key in keys:
            if (changed := self._places.pop(key, None)) is not None:
                changed.is_current = False

    def trust(self, connection: object, *, until: float) -> None:
        """Let what is kept count until a moment of `monotonic`, as far as this connection goes."""
        self._trusted[connection] = until
        self._fresh_until = min(self._trusted.values())

    def distrust(self, connection: object) -> None:
        """Forget everything, because a connection is gone that would have told of changes."""
        if self._trusted.pop(connection, None) is not None:
            self._fresh_until = min(self._trusted.values(), default=0.0)
            self.forget(None)
