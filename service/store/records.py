"""Records: the keys, the values and the commands for one kind of thing that is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from service.model.authorization import Spent
from service.store import verbs
from service.store.encoding import FIRST, Encoding
from service.store.verbs import Command, Read

T = TypeVar("T")

_LIVE, _SPENT = b"+", b"-"
SPENT = Encoding("spent", Spent, 3)


class Records(Generic[T]):
    """All records of one kind; keys are `prefix:{selector}:name[:digest]`.

    The braces keep what belongs to one authorization, session or subject in one slot of a
    Redis Cluster. Both parts come from a fixed alphabet.
    """

    def __init__(self, prefix: str, name: str, type: type[T], version: int = FIRST) -> None:  # noqa: A002
        self.prefix, self.name = prefix, name
        self.encoding = Encoding(name, type, version)
        self.encode, self.decode = self.encoding.encode, self.encoding.decode

    def key(self, selector: str, digest: str = "") -> str:
        return f"{self.prefix}:{{{selector}}}:{self.name}" + (f":{digest}" if digest else "")

    def read(self, selector: str, digest: str = "") -> Read[T]:
        return Read(self.key(selector, digest), self.decode)

    def put(self, record: T, selector: str, digest: str = "", *, ttl: int) -> Command:
        """Write the record for `ttl` seconds."""
        return _set(self.key(selector, digest), self.encode(record), ttl)

    def put_lasting(self, record: T, selector: str, digest: str = "") -> Command:
        """Write the record, which stays until it is dropped."""
        return ("SET", self.key(selector, digest), self.encode(record))

    def put_new(self, record: T, selector: str, digest: str = "", *, ttl: int) -> Command:
        """Write the record for `ttl` seconds unless there is one; answers whether it was written."""
        return (*self.put(record, selector, digest, ttl=ttl), "NX")

    def swap(self, record: T, selector: str, digest: str = "", *, ttl: int) -> Command:
        """Write the record in the place of one that is there; answers the old one, or None and writes nothing."""
        return (*self.put(record, selector, digest, ttl=ttl), "XX", "GET")

    def rewrite(self, record: T, selector: str, digest: str = "") -> Command:
        """Change a record that is still there, for the time it has left."""
        return ("SET", self.key(selector, digest), self.encode(record), "XX", "KEEPTTL")

    def extend(self, selector: str, digest: str = "", *, ttl: int) -> Command:
        """Keep a record that is still there for `ttl` seconds from now."""
        return verbs.extend(self.key(selector, digest), ttl)

    def exists(self, selector: str, digest: str = "") -> Command:
        """Ask whether the record is there after the commands before."""
        return ("EXISTS", self.key(selector, digest))

    def drop(self, selector: str, digest: str = "") -> Command:
        return verbs.drop(self.key(selector, digest))


@dataclass(frozen=True, slots=True)
class OneTimeRecords(Generic[T]):
    """Records that are used once: a `Spent` marker takes the record's place in one atomic step."""

    live: Records[T]

    def decode(self, value: bytes) -> T | Spent:
        """Return the record, or the marker that it was spent."""
        return self.live.decode(value[1:]) if value[:1] == _LIVE else SPENT.decode(value[1:])

    def read(self, selector: str, digest: str) -> Read[T | Spent]:
        return Read(self.live.key(selector, digest), self.decode)

    def put(self, record: T, selector: str, digest: str, *, ttl: int) -> Command:
        """Write an unspent record for `ttl` seconds."""
        return _set(self.live.key(selector, digest), _LIVE + self.live.encode(record), ttl)

    def put_new(self, record: T, selector: str, digest: str, *, ttl: int) -> Command:
        """Write an unspent record unless there is one, spent or not; answers whether it was written."""
        return (*self.put(record, selector, digest, ttl=ttl), "NX")

    def extend(self, selector: str, digest: str, *, ttl: int) -> Command:
        """Keep a record that is still there for `ttl` seconds from now."""
        return self.live.extend(selector, digest, ttl=ttl)

    def spend(self, marker: Spent, selector: str, digest: str, *, ttl: int) -> Command:
        """Write the marker in the record's place for `ttl` seconds; answers what was there, or None."""
        key = self.live.key(selector, digest)
        return (*_set(key, _SPENT + SPENT.encode(marker), ttl), "XX", "GET")

    def was_won(self, before: bytes | None, *, attempt: str) -> bool:
        """Return whether the answer to `spend` says that this attempt is the one that used the record."""
        if before is None:
            return False
        return before[:1] == _LIVE or SPENT.decode(before[1:]).attempt == attempt


def _set(key: str, value: bytes, ttl: int) -> Command:
    return ("SET", key, value, "EX", max(ttl, 1))
