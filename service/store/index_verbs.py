"""What can be asked of a sorted set: an index, scored by when its members expire, or a queue."""

from __future__ import annotations

import msgspec

from service.store import scripts
from service.store.verbs import Command


class IndexAdd(msgspec.Struct, frozen=True):
    """Note a member in a sorted set until `expires_at`, and forget the members that have expired.

    The set leaves a little after the last of its members; answers how many there are.
    """

    key: str
    member: str
    expires_at: int
    now: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("EVAL", scripts.INDEX_ADD, 1, self.key, self.now, self.expires_at, self.member)


class IndexKeep(msgspec.Struct, frozen=True):
    """Let all members of an index last until `expires_at`."""

    key: str
    expires_at: int
    now: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("EVAL", scripts.INDEX_KEEP, 1, self.key, self.now, self.expires_at)


class IndexRemove(msgspec.Struct, frozen=True):
    """Forget a member of an index."""

    key: str
    member: str

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("ZREM", self.key, self.member)


class IndexCount(msgspec.Struct, frozen=True):
    """Write nothing; answers how many members of an index have not expired."""

    key: str
    now: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("ZCOUNT", self.key, f"({self.now}", "+inf")


class IndexMembers(msgspec.Struct, frozen=True):
    """Write nothing; answers the members of an index that have not expired."""

    key: str
    now: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("ZRANGEBYSCORE", self.key, f"({self.now}", "+inf")


class IndexFirst(msgspec.Struct, frozen=True):
    """Write nothing; answers the members of an index that expire first."""

    key: str
    count: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("ZRANGE", self.key, 0, self.count - 1)


class IndexLast(msgspec.Struct, frozen=True):
    """Write nothing; answers the members of an index that expire last."""

    key: str
    count: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("ZRANGE", self.key, -self.count, -1)


class Enqueue(msgspec.Struct, frozen=True):
    """Note a member of a queue, to be taken from `due` on.

    The queue lasts `ttl` seconds from now, and forgets what has been due for longer than that.
    """

    key: str
    member: str
    due: int
    ttl: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("EVAL", scripts.ENQUEUE, 1, self.key, self.due, self.member, self.ttl)


class Defer(msgspec.Struct, frozen=True):
    """Let a member of a queue be taken from `due` on, if it is still there."""

    key: str
    member: str
    due: int

    @property
    def command(self) -> Command:
        """What Redis is told."""
        return ("ZADD", self.key, "XX", self.due, self.member)
