"""Commands of Redis as values; records and indexes make those on their keys, and this file those on plain keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from service.store import scripts

Command = tuple[str | bytes | int, ...]
"""A command of Redis with its arguments, as a value: one atomic change or look at one key."""

T_co = TypeVar("T_co", covariant=True)


class Read(msgspec.Struct, Generic[T_co], frozen=True):
    """One key to read, and the function that decodes its value."""

    key: str
    decode: Callable[[bytes], T_co]


def extend(key: str, ttl: int) -> Command:
    """Give a key that is there a new time to live; a key that is gone stays gone."""
    return ("EXPIRE", key, max(ttl, 1))


def drop(key: str) -> Command:
    """Remove a key."""
    return ("DEL", key)


def count(key: str, ttl: int, amount: int = 1) -> Command:
    """Add to a counter that lasts `ttl` seconds from its first use; answers the new count."""
    return ("EVAL", scripts.COUNT, 1, key, max(ttl, 1), amount)


def replace(key: str, old: bytes | None, new: bytes) -> Command:
    """Put a lasting value in the place of `old`, None if there is no value; answers whether `old` was there."""
    if old is None:
        return ("SET", key, new, "NX")
    return ("EVAL", scripts.REPLACE, 1, key, old, new)
