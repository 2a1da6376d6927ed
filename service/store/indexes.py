"""Sorted sets that expire with their last member: indexes, scored by when a member expires, and queues."""

from __future__ import annotations

from dataclasses import dataclass

from service.store import verbs
from service.store.verbs import Command


@dataclass(frozen=True, slots=True)
class Index:
    """The members that belong to something, each until it expires by itself."""

    prefix: str
    name: str
    limit: int
    """With more members, those that expire first have to make room: no key grows for ever."""

    def key(self, selector: str, digest: str = "") -> str:
        return f"{self.prefix}:{{{selector}}}:{self.name}" + (f":{digest}" if digest else "")

    def add(
        self, selector: str, member: str, digest: str = "", *, expires_at: int, now: int
    ) -> Command:
        """Note a member until it expires, and forget those that have; answers how many there are."""
        return ("EVAL", verbs.INDEX_ADD, 1, self.key(selector, digest), now, expires_at, member)

    def keep(self, selector: str, *, expires_at: int, now: int) -> Command:
        """Let all members last until `expires_at`."""
        return ("EVAL", verbs.INDEX_KEEP, 1, self.key(selector), now, expires_at)

    def members(self, selector: str, digest: str = "", *, now: int) -> Command:
        """Ask for the members that have not expired, after the commands before."""
        return ("ZRANGEBYSCORE", self.key(selector, digest), f"({now}", "+inf")

    def first(self, selector: str, digest: str = "", *, count: int) -> Command:
        """Ask for the members that expire first, after the commands before."""
        return ("ZRANGE", self.key(selector, digest), 0, count - 1)

    def last(self, selector: str, digest: str = "", *, count: int) -> Command:
        """Ask for the members that expire last, after the commands before."""
        return ("ZRANGE", self.key(selector, digest), -count, -1)

    def count(self, selector: str, digest: str = "", *, now: int) -> Command:
        """Ask how many members have not expired, after the commands before."""
        return ("ZCOUNT", self.key(selector, digest), f"({now}", "+inf")

    def remove(self, selector: str, member: str, digest: str = "") -> Command:
        return ("ZREM", self.key(selector, digest), member)

    def drop(self, selector: str, digest: str = "") -> Command:
        return verbs.drop(self.key(selector, digest))


@dataclass(frozen=True, slots=True)
class Queue:
    """Work to be done, each piece at its time; one key for all, so that any replica finds it."""

    prefix: str
    selector: str
    name: str
    ttl: int

    @property
    def key(self) -> str:
        return f"{self.prefix}:{{{self.selector}}}:{self.name}"

    def add(self, member: str, *, due: int) -> Command:
        """Note a member, or give it another time, and forget what has been due for longer than `ttl`."""
        return ("EVAL", verbs.ENQUEUE, 1, self.key, due, member, self.ttl)

    def defer(self, member: str, *, due: int) -> Command:
        """Give a member another time, if it is still there."""
        return ("ZADD", self.key, "XX", due, member)

    def due(self, *, now: int, at_most: int) -> Command:
        """Ask for the members that are due, the earliest first."""
        return ("ZRANGEBYSCORE", self.key, "-inf", now, "LIMIT", 0, at_most)

    def count(self) -> Command:
        """Ask how many members there are."""
        return ("ZCARD", self.key)

    def remove(self, member: str) -> Command:
        return ("ZREM", self.key, member)
