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
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("SET", self.key, self.value, "EX", max(self.ttl, 1)),)


class PutLasting(msgspec.Struct, frozen=True):
    """Write a value that lives until it is dropped."""

    key: str
    value: bytes

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("SET", self.key, self.value),)


class PutNew(msgspec.Struct, frozen=True):
    """Write a value unless the key is there; answers whether it was written."""

    key: str
    value: bytes
    ttl: int

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("SET", self.key, self.value, "EX", max(self.ttl, 1), "NX"),)


class Swap(msgspec.Struct, frozen=True):
    """Put a value in place of the one that is there; answers the old one, or None and writes nothing."""

    key: str
    value: bytes
    ttl: int

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("SET", self.key, self.value, "EX", max(self.ttl, 1), "XX", "GET"),)


class Rewrite(msgspec.Struct, frozen=True):
    """Give a key that is there a new value for the time it has left; a key that is gone stays gone."""

    key: str
    value: bytes

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("SET", self.key, self.value, "XX", "KEEPTTL"),)


class Extend(msgspec.Struct, frozen=True):
    """Give a key that is there a new time to live; a key that is gone stays gone."""

    key: str
    ttl: int

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("EXPIRE", self.key, max(self.ttl, 1)),)


class Drop(msgspec.Struct, frozen=True):
    """Remove a key."""

    key: str

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("DEL", self.key),)


class Count(msgspec.Struct, frozen=True):
    """Add one to a counter that lasts `ttl` seconds from its first use; answers the new count."""

    key: str
    ttl: int

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("EVAL", scripts.COUNT, 1, self.key, max(self.ttl, 1)),)


class IndexAdd(msgspec.Struct, frozen=True):
    """Note a member in a sorted set until `expires_at`, and forget the members that have expired.

    The set leaves a little after the last of its members; answers how many there are.
    """

    key: str
    member: str
    expires_at: int
    now: int

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("EVAL", scripts.INDEX_ADD, 1, self.key, self.now, self.expires_at, self.member),)


class IndexKeep(msgspec.Struct, frozen=True):
    """Let all members of an index last until `expires_at`."""

    key: str
    expires_at: int
    now: int

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("EVAL", scripts.INDEX_KEEP, 1, self.key, self.now, self.expires_at),)


class IndexRemove(msgspec.Struct, frozen=True):
    """Forget a member of an index."""

    key: str
    member: str

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("ZREM", self.key, self.member),)


class IndexCount(msgspec.Struct, frozen=True):
    """Write nothing; answers how many members of an index have not expired."""

    key: str
    now: int

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("ZCOUNT", self.key, f"({self.now}", "+inf"),)


class IndexFirst(msgspec.Struct, frozen=True):
    """Write nothing; answers the members of an index that expire first."""

    key: str
    count: int

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("ZRANGE", self.key, 0, self.count - 1),)


class Enqueue(msgspec.Struct, frozen=True):
    """Note a member of a queue, to be taken from `due` on.

    The queue lasts `ttl` seconds from now, and forgets what has been due for longer than that.
    """

    key: str
    member: str
    due: int
    ttl: int

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("EVAL", scripts.ENQUEUE, 1, self.key, self.due, self.member, self.ttl),)


class Defer(msgspec.Struct, frozen=True):
    """Let a member of a queue be taken from `due` on, if it is still there."""

    key: str
    member: str
    due: int

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("ZADD", self.key, "XX", self.due, self.member),)


class Exists(msgspec.Struct, frozen=True):
    """Write nothing; answers whether the key is there after the writes before it."""

    key: str

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told."""
        return (("EXISTS", self.key),)


class Write(Protocol):
    """One change, or a look, that goes to Redis together with others."""

    @property
    def commands(self) -> tuple[Command, ...]:
        """What Redis is told; the answer to the last command is the answer."""
        ...
