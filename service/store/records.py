"""Records, indexes and queues: the keys, the bytes and the commands for one kind of thing that is stored.

Neighbouring releases can read each other's (docs/decisions/store/record-versions.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Generic, NamedTuple, TypeVar, cast

import msgspec
import structlog

from service.clock import clock
from service.model.authorization import Spent
from service.store import verbs
from service.store.verbs import Command, Read

log = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")

FIRST = 1
"""The version of bytes without a mark."""

_LIVE, _SPENT = b"+", b"-"

_encode = msgspec.json.Encoder().encode


class TooNew(ValueError):
    """A release that is more than one ahead wrote these bytes."""


class Encoding(Generic[T]):
    """JSON, after `v2 `, `v3 `, … if the kind of record has changed since its first version.

    Unknown members are ignored and missing ones have defaults: so every release reads what earlier
    releases wrote, and what the next one writes.
    """

    def __init__(self, kind: str, type: type[T], version: int = FIRST) -> None:  # noqa: A002
        self.kind, self.type, self.version = kind, type, version
        self.mark = b"" if version == FIRST else b"v%d " % version
        """The first bytes of every record."""
        self._decode = msgspec.json.Decoder(type).decode
        self.encode: Callable[[T], bytes] = self._encode_marked if self.mark else _encode

    def _encode_marked(self, record: T) -> bytes:
        return self.mark + _encode(record)

    def decode(self, value: bytes) -> T:
        """Return the record; ValueError for bytes that this release does not understand."""
        try:
            return self._decode(value.removeprefix(self.mark))
        except msgspec.DecodeError:
            return self._decode(self._remove_mark(value))

    def is_newer(self, value: bytes) -> bool:
        """Whether the next release wrote these bytes, which may have members that are unknown here."""
        return value[:1] == b"v" and _version(value) > self.version

    def _remove_mark(self, value: bytes) -> bytes:
        """Return the JSON after a mark that can be understood."""
        if value[:1] != b"v":
            raise ValueError("it is neither JSON of this kind nor marked with a version")
        version = _version(value)
        if version > self.version + 1:
            log.error(
                "a record is of a release that is more than one ahead",
                kind=self.kind,
                version=version,
                known=self.version,
            )
            raise TooNew(f"{self.kind} {version}")
        return value.partition(b" ")[2]


def _version(value: bytes) -> int:
    return int(value.partition(b" ")[0][1:])


SPENT = Encoding("spent", Spent, 4)


class Records(Generic[T]):
    """All records of one kind; keys are `prefix:{selector}:name[:digest]`.

    The braces keep what belongs to one authorization, session or subject in one slot of a
    Redis Cluster. Both parts come from a fixed alphabet.
    """

    def __init__(self, prefix: str, name: str, type: type[T], version: int = FIRST) -> None:  # noqa: A002
        self.prefix, self.name = prefix, name
        self._before, self._after = f"{prefix}:{{", f"}}:{name}"
        self.encoding = Encoding(name, type, version)
        self.encode, self.decode = self.encoding.encode, self.encoding.decode

    def key(self, selector: str, digest: str = "") -> str:
        if digest:
            return f"{self._before}{selector}{self._after}:{digest}"
        return f"{self._before}{selector}{self._after}"

    def read(self, selector: str, digest: str = "") -> Read[T]:
        return Read(self.key(selector, digest), self.decode)

    def put(self, record: T, selector: str, digest: str = "", *, ttl: int) -> Command:
        """Write the record for `ttl` seconds, at least one."""
        seconds = ttl if ttl > 0 else 1  # `max` takes ten times as long
        return ("SET", self.key(selector, digest), self.encode(record), "EX", seconds)

    def put_lasting(self, record: T, selector: str) -> Command:
        """Write the record, which stays until it is dropped."""
        return ("SET", self.key(selector), self.encode(record))

    def put_new(self, record: T, selector: str, digest: str = "", *, ttl: int) -> Command:
        """Write the record for `ttl` seconds unless there is one; answers whether it was written."""
        return (*self.put(record, selector, digest, ttl=ttl), "NX")

    def put_new_for(self, record: T, selector: str, *, ttl: int, used_up: str) -> Command:
        """Write the record as `put_new` does, and remove the key that is used up by that, which has the same selector."""
        value, seconds = self.encode(record), max(ttl, 1)
        return ("EVAL", verbs.PUT_NEW_FOR, 2, self.key(selector), used_up, value, seconds)

    def swap(self, record: T, selector: str, digest: str = "", *, ttl: int) -> Command:
        """Write the record in the place of one that is there; answers the old one, or None and writes nothing."""
        return (*self.put(record, selector, digest, ttl=ttl), "XX", "GET")

    def rewrite(self, record: T, selector: str, digest: str = "") -> Command:
        """Change a record that is still there, for the time it has left."""
        return ("SET", self.key(selector, digest), self.encode(record), "XX", "KEEPTTL")

    def extend(self, selector: str, digest: str = "", *, ttl: int) -> Command:
        """Keep a record that is still there for `ttl` seconds from now."""
        return verbs.extend(self.key(selector, digest), ttl)

    def lengthen(self, selector: str, digest: str = "", *, ttl: int) -> Command:
        """Keep a record that is still there for at least `ttl` seconds from now; answers whether it is."""
        return verbs.lengthen(self.key(selector, digest), ttl)

    def exists(self, selector: str, digest: str = "") -> Command:
        """Ask whether the record is there after the commands before."""
        return ("EXISTS", self.key(selector, digest))

    def drop(self, selector: str, digest: str = "") -> Command:
        return verbs.drop(self.key(selector, digest))


def used_once(records: Records[T]) -> Records[T | Spent]:
    """Let `swap` put a `Spent` marker in the place of a record, in one atomic step."""
    decode = records.decode
    live, spent = _LIVE + records.encoding.mark, _SPENT + SPENT.mark

    def encode_either(record: T | Spent) -> bytes:
        return (spent if isinstance(record, Spent) else live) + _encode(record)

    def decode_either(value: bytes) -> T | Spent:
        return decode(value[1:]) if value[:1] == _LIVE else SPENT.decode(value[1:])

    once = cast("Records[T | Spent]", copy(records))
    once.encode, once.decode = encode_either, decode_either
    return once


def was_won(before: bytes | None, *, attempt: str) -> bool:
    """Return whether the answer to the swap of a marker says that this attempt used the record."""
    if before is None:
        return False
    return before[:1] == _LIVE or SPENT.decode(before[1:]).attempt == attempt


class Member(NamedTuple):
    """A member of an index."""

    expires_at: int
    name: str


LAST = 1 << 50
"""Later than any time."""


class Index(msgspec.Struct, frozen=True):
    """The members that belong to something, each until it expires by itself, in a sorted set scored by that."""

    prefix: str
    name: str
    limit: int
    """With more members, those that expire first have to make room: no key grows for ever."""

    @property
    def spare(self) -> int:
        """The room beyond what is necessary that is made at once, so that few requests have to: a hundredth of the limit, or more if it is small."""
        return max(self.limit // 100, min(self.limit // 10, 20))

    def key(self, selector: str, digest: str = "") -> str:
        if digest:
            return f"{self.prefix}:{{{selector}}}:{self.name}:{digest}"
        return f"{self.prefix}:{{{selector}}}:{self.name}"

    def add(self, selector: str, member: str, digest: str = "", *, expires_at: int) -> Command:
        """Note a member at least until `expires_at`, and forget those that have expired; answers how many there are."""
        return ("EVAL", verbs.INDEX_ADD, 1, self.key(selector, digest), clock(), expires_at, member)

    def add_if(
        self,
        selector: str,
        member: str,
        digest: str = "",
        *,
        expires_at: int,
        source: str,
        exists: bool,
        write: Command | None,
    ) -> Command:
        """Note a member and run the command that writes it, in one step, if the key `source` exists, or if it does not.

        Answers how many members there are; -1 if nothing was done. All keys have the same selector.
        """
        key, noted = self.key(selector, digest), (clock(), expires_at, member, int(exists))
        if write is None:
            return ("EVAL", verbs.INDEX_ADD_IF, 2, key, source, *noted)
        verb, written, *others = write
        return ("EVAL", verbs.INDEX_ADD_IF, 3, key, source, written, *noted, verb, *others)

    def keep(self, selector: str, *, expires_at: int) -> Command:
        """Let all members last until `expires_at`."""
        return ("EVAL", verbs.INDEX_KEEP, 1, self.key(selector), clock(), expires_at)

    def members(self, selector: str, digest: str = "") -> Command:
        """Ask for the members that have not expired, after the commands before."""
        return ("ZRANGEBYSCORE", self.key(selector, digest), f"({clock()}", "+inf")

    def exist(self, selector: str, digests: Iterable[str]) -> Command:
        """Ask how many of these indexes have members."""
        return ("EXISTS", *[self.key(selector, digest) for digest in digests])

    def first(self, selector: str, digest: str = "", *, count: int) -> Command:
        """Ask for the members that expire first, after the commands before."""
        return ("ZRANGE", self.key(selector, digest), 0, count - 1)

    def last(self, selector: str, digest: str = "", *, count: int) -> Command:
        """Ask for the members that expire last, after the commands before."""
        return ("ZRANGE", self.key(selector, digest), -count, -1)

    def page(self, selector: str, after: Member | None, *, count: int) -> Command:
        """Ask for the members that expire last and come after this one; `read_page` reads the answer."""
        score, member = (LAST, "") if after is None else after
        return ("EVAL", verbs.INDEX_PAGE, 1, self.key(selector), score, member, count)

    def count(self, selector: str, digest: str = "") -> Command:
        """Ask how many members have not expired, after the commands before."""
        return ("ZCOUNT", self.key(selector, digest), f"({clock()}", "+inf")

    def remove(self, selector: str, *members: str, digest: str = "") -> Command:
        return ("ZREM", self.key(selector, digest), *members)

    def drop(self, selector: str, digest: str = "") -> Command:
        return verbs.drop(self.key(selector, digest))


def read_page(answer: Sequence[bytes]) -> list[Member]:
    """Return the members that have not expired, the one that expires last first."""
    found = [
        Member(int(float(score)), member.decode())
        for member, score in zip(answer[::2], answer[1::2], strict=True)
    ]
    return [one for one in reversed(found) if one.expires_at > clock()]


class Queue(msgspec.Struct, frozen=True):
    """Work to be done, a sorted set scored by when it is due; one key for all, so that any replica finds it."""

    prefix: str
    selector: str
    name: str
    ttl: int

    @property
    def key(self) -> str:
        return f"{self.prefix}:{{{self.selector}}}:{self.name}"

    def add(self, member: str, *, seconds: int = 0) -> Command:
        """Note a member, due in so many seconds or at once, and forget what has been due for longer than `ttl`."""
        return ("EVAL", verbs.ENQUEUE, 1, self.key, clock() + seconds, member, self.ttl)

    def defer(self, member: str, *, seconds: int) -> Command:
        """Let a member be due so many seconds from now, if it is still there."""
        return ("ZADD", self.key, "XX", clock() + seconds, member)

    def take(self, member: str, *, seconds: int, lease: Command) -> Command:
        """Let a member that is due be due so many seconds from now, if the command that writes its lease succeeds.

        Answers whether both were done. The lease has the same selector.
        """
        now, (verb, written, *others) = clock(), lease
        noted = (now, now + seconds, member)
        return ("EVAL", verbs.TAKE, 2, self.key, written, *noted, verb, *others)

    def due(self, *, at_most: int) -> Command:
        """Ask for the members that are due, the earliest first."""
        return ("ZRANGEBYSCORE", self.key, "-inf", clock(), "LIMIT", 0, at_most)

    def count(self) -> Command:
        """Ask how many members there are."""
        return ("ZCARD", self.key)

    def first(self, *, start: int, count: int) -> Command:
        """Ask for members and the times at which they are due, the earliest first."""
        return ("ZRANGE", self.key, start, start + count - 1, "WITHSCORES")

    def revive(self, member: str, record: Command) -> tuple[Command, ...]:
        """Write the record of a member that is due now."""
        return record, self.add(member)

    def remove(self, member: str) -> Command:
        return ("ZREM", self.key, member)
