"""What can be asked of the store: a look at one key, or one atomic change; each is a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Read(Generic[T_co]):
    """One key to read, and what its value means."""

    key: str
    decode: Callable[[bytes], T_co]


@dataclass(frozen=True, slots=True)
class Put:
    """Write a value that lives for `ttl` seconds."""

    key: str
    value: bytes
    ttl: int

    def onto(self, pipeline: Any) -> int:
        """Queue the command."""
        pipeline.set(self.key, self.value, ex=max(self.ttl, 1))
        return 1


@dataclass(frozen=True, slots=True)
class PutNew:
    """Write a value unless the key is there; answers whether it was written."""

    key: str
    value: bytes
    ttl: int

    def onto(self, pipeline: Any) -> int:
        """Queue the command."""
        pipeline.set(self.key, self.value, ex=max(self.ttl, 1), nx=True)
        return 1


@dataclass(frozen=True, slots=True)
class Swap:
    """Put a value in place of the one that is there; answers the old one, or None and writes nothing."""

    key: str
    value: bytes
    ttl: int

    def onto(self, pipeline: Any) -> int:
        """Queue the command."""
        pipeline.set(self.key, self.value, ex=max(self.ttl, 1), xx=True, get=True)
        return 1


@dataclass(frozen=True, slots=True)
class Extend:
    """Give a key that is there a new time to live; a key that is gone stays gone."""

    key: str
    ttl: int

    def onto(self, pipeline: Any) -> int:
        """Queue the command."""
        pipeline.expire(self.key, max(self.ttl, 1))
        return 1


@dataclass(frozen=True, slots=True)
class Drop:
    """Remove a key."""

    key: str

    def onto(self, pipeline: Any) -> int:
        """Queue the command."""
        pipeline.delete(self.key)
        return 1


@dataclass(frozen=True, slots=True)
class Count:
    """Add one to a counter that lasts `ttl` seconds from its first use; answers the new count."""

    key: str
    ttl: int

    def onto(self, pipeline: Any) -> int:
        """Queue the commands; the last one's answer counts."""
        pipeline.set(self.key, 0, ex=max(self.ttl, 1), nx=True)
        pipeline.incr(self.key)
        return 2


@dataclass(frozen=True, slots=True)
class IndexAdd:
    """Note a member in a sorted set until `expires_at`, and forget the members that have expired."""

    key: str
    member: str
    expires_at: int
    now: int
    ttl: int

    def onto(self, pipeline: Any) -> int:
        """Queue the commands; the last one's answer counts."""
        pipeline.zremrangebyscore(self.key, "-inf", self.now)
        pipeline.zadd(self.key, {self.member: self.expires_at})
        pipeline.expire(self.key, self.ttl)
        return 3


@dataclass(frozen=True, slots=True)
class IndexRemove:
    """Forget a member of an index."""

    key: str
    member: str

    def onto(self, pipeline: Any) -> int:
        """Queue the command."""
        pipeline.zrem(self.key, self.member)
        return 1


@dataclass(frozen=True, slots=True)
class Exists:
    """Write nothing; answers whether the key is there after the writes before it."""

    key: str

    def onto(self, pipeline: Any) -> int:
        """Queue the command."""
        pipeline.exists(self.key)
        return 1


class Write(Protocol):
    """One change, or a look, that goes to Redis together with others."""

    def onto(self, pipeline: Any) -> int:
        """Queue its commands; how many they are, of which the last one is its answer."""
        ...
