"""What belongs to something, and what is to be done: sorted sets that leave with their last member."""

from __future__ import annotations

from dataclasses import dataclass

from service.store.index_verbs import (
    Defer,
    Enqueue,
    IndexAdd,
    IndexCount,
    IndexFirst,
    IndexKeep,
    IndexLast,
    IndexMembers,
    IndexRemove,
)


@dataclass(frozen=True, slots=True)
class Index:
    """Which members belong to something, each until it expires by itself, and the index after the last."""

    prefix: str
    name: str
    most: int
    """With more members than this, those that expire first have to make room: no key grows for ever."""

    def key(self, selector: str, digest: str = "") -> str:
        """The sorted set's key."""
        return f"{self.prefix}:{{{selector}}}:{self.name}" + (f":{digest}" if digest else "")

    def add(
        self, selector: str, member: str, digest: str = "", *, expires_at: int, now: int
    ) -> IndexAdd:
        """Note a member until it expires; answers how many there are."""
        return IndexAdd(self.key(selector, digest), member, expires_at, now)

    def keep(self, selector: str, *, expires_at: int, now: int) -> IndexKeep:
        """Let all members last until then."""
        return IndexKeep(self.key(selector), expires_at, now)

    def members(self, selector: str, digest: str = "", *, now: int) -> IndexMembers:
        """Ask for the members, after the writes before."""
        return IndexMembers(self.key(selector, digest), now)

    def first(self, selector: str, digest: str = "", *, count: int) -> IndexFirst:
        """Ask for the members that expire first, after the writes before."""
        return IndexFirst(self.key(selector, digest), count)

    def last(self, selector: str, digest: str = "", *, count: int) -> IndexLast:
        """Ask for the members that expire last, after the writes before."""
        return IndexLast(self.key(selector, digest), count)

    def remove(self, selector: str, member: str, digest: str = "") -> IndexRemove:
        """Forget a member."""
        return IndexRemove(self.key(selector, digest), member)

    def count(self, selector: str, digest: str = "", *, now: int) -> IndexCount:
        """Ask how many members there are, after the writes before."""
        return IndexCount(self.key(selector, digest), now)


@dataclass(frozen=True, slots=True)
class Queue:
    """What is to be done, each at its time; one key for all, so that any replica finds it."""

    prefix: str
    selector: str
    name: str
    ttl: int

    @property
    def key(self) -> str:
        """The sorted set's key."""
        return f"{self.prefix}:{{{self.selector}}}:{self.name}"

    def add(self, member: str, *, due: int) -> Enqueue:
        """Note a member, or give it another time."""
        return Enqueue(self.key, member, due, self.ttl)

    def defer(self, member: str, *, due: int) -> Defer:
        """Give a member another time, if it is still there."""
        return Defer(self.key, member, due)

    def remove(self, member: str) -> IndexRemove:
        """Forget a member."""
        return IndexRemove(self.key, member)
