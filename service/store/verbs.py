"""What can be asked of the store: a look at one key, or one atomic change; each is a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

from service.store import scripts

Command = tuple[str | bytes | int, ...]
"""A command of Redis with its arguments."""

T_co = TypeVar("T_co", covariant=True)


class Read(msgspec.Struct, Generic[T_co], frozen=True):
    """One key to read, and what its value means."""

    key: str
    decode: Callable[[bytes], T_co]


class Put(msgspec.Struct, frozen=True):
    """Write a value that lives for `ttl` seconds."""

    key: str
    value: bytes
    ttl: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("SET", self.key, self.value, "EX", max(self.ttl, 1))


class PutLasting(msgspec.Struct, frozen=True):
    """Write a value that lives until it is dropped."""

    key: str
    value: bytes

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("SET", self.key, self.value)


class Replace(msgspec.Struct, frozen=True):
    """Put a lasting value in place of the very one that was read, None where none was; answers whether it did."""

    key: str
    old: bytes | None
    value: bytes

    @property
    def command(self) -> Command:
        """What Redis is told."""
        if self.old is None:
            return ("SET", self.key, self.value, "NX")
        return ("EVAL", scripts.REPLACE, 1, self.key, self.old, self.value)


class PutNew(msgspec.Struct, frozen=True):
    """Write a value unless the key is there; answers whether it was written."""

    key: str
    value: bytes
    ttl: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("SET", self.key, self.value, "EX", max(self.ttl, 1), "NX")


class Swap(msgspec.Struct, frozen=True):
    """Put a value in place of the one that is there; answers the old one, or None and writes nothing."""

    key: str
    value: bytes
    ttl: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("SET", self.key, self.value, "EX", max(self.ttl, 1), "XX", "GET")


class Rewrite(msgspec.Struct, frozen=True):
    """Give a key that is there a new value for the time it has left; a key that is gone stays gone."""

    key: str
    value: bytes

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("SET", self.key, self.value, "XX", "KEEPTTL")


class Extend(msgspec.Struct, frozen=True):
    """Give a key that is there a new time to live; a key that is gone stays gone."""

    key: str
    ttl: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("EXPIRE", self.key, max(self.ttl, 1))


class Drop(msgspec.Struct, frozen=True):
    """Remove a key."""

    key: str

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("DEL", self.key)


class Count(msgspec.Struct, frozen=True):
    """Add to a counter that lasts `ttl` seconds from its first use; answers the new count."""

    key: str
    ttl: int
    amount: int = 1

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("EVAL", scripts.COUNT, 1, self.key, max(self.ttl, 1), self.amount)


class Exists(msgspec.Struct, frozen=True):
    """Write nothing; answers whether the key is there after the writes before it."""

    key: str

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("EXISTS", self.key)


class Write(Protocol):
    """One change, or a look, that goes to Redis together with others."""

    @property
    def command(self) -> Command:
        """What Redis is told."""
        ...
