"""How a thing becomes a record: its key, its time to live, and whether it works once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from service.model.one_time import Spent
from service.store.encoding import FIRST, Encoding
from service.store.verbs import Drop, Exists, Extend, Put, PutLasting, PutNew, Read, Rewrite, Swap

T = TypeVar("T")

_LIVE, _SPENT = b"+", b"-"
SPENT = Encoding("spent", Spent, 3)


@dataclass(frozen=True, slots=True)
class Records(Generic[T]):
    """All records of one kind; keys are `prefix:{selector}:name[:digest]`.

    The braces keep what belongs to one authorization, session or subject in one slot of a
    Redis Cluster.
    """

    prefix: str
    name: str
    type: type[T]
    version: int = FIRST
    encoding: Encoding[T] = field(init=False, repr=False)
    encode: Callable[[T], bytes] = field(init=False, repr=False)
    decode: Callable[[bytes], T] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Build the encoding once."""
        encoding = Encoding(self.name, self.type, self.version)
        object.__setattr__(self, "encoding", encoding)
        object.__setattr__(self, "encode", encoding.encode)
        object.__setattr__(self, "decode", encoding.decode)

    def key(self, selector: str, digest: str = "") -> str:
        """Where the record is kept; both parts come from a fixed alphabet."""
        return f"{self.prefix}:{{{selector}}}:{self.name}" + (f":{digest}" if digest else "")

    def read(self, selector: str, digest: str = "") -> Read[T]:
        """To be given to `KeyValue.read`."""
        return Read(self.key(selector, digest), self.decode)

    def put(self, record: T, selector: str, digest: str = "", *, ttl: int) -> Put:
        """Write the record for `ttl` seconds."""
        return Put(self.key(selector, digest), self.encode(record), ttl)

    def put_lasting(self, record: T, selector: str, digest: str = "") -> PutLasting:
        """Write the record, which stays until it is dropped."""
        return PutLasting(self.key(selector, digest), self.encode(record))

    def put_new(self, record: T, selector: str, digest: str = "", *, ttl: int) -> PutNew:
        """Write the record for `ttl` seconds, unless one is there."""
        return PutNew(self.key(selector, digest), self.encode(record), ttl)

    def rewrite(self, record: T, selector: str, digest: str = "") -> Rewrite:
        """Change the record, if it is still there, for the time it has left."""
        return Rewrite(self.key(selector, digest), self.encode(record))

    def extend(self, selector: str, digest: str = "", *, ttl: int) -> Extend:
        """Keep the record for `ttl` seconds from now, if it is still there."""
        return Extend(self.key(selector, digest), ttl)

    def exists(self, selector: str, digest: str = "") -> Exists:
        """Ask whether the record is there, after the writes before."""
        return Exists(self.key(selector, digest))

    def drop(self, selector: str, digest: str = "") -> Drop:
        """Remove the record."""
        return Drop(self.key(selector, digest))


@dataclass(frozen=True, slots=True)
class OneTimeRecords(Generic[T]):
    """Records that are used once: a `Spent` marker takes the record's place in one atomic step."""

    live: Records[T]

    def decode(self, value: bytes) -> T | Spent:
        """The record, or the marker that it was spent."""
        return self.live.decode(value[1:]) if value[:1] == _LIVE else SPENT.decode(value[1:])

    def read(self, selector: str, digest: str) -> Read[T | Spent]:
        """To be given to `KeyValue.read`."""
        return Read(self.live.key(selector, digest), self.decode)

    def put(self, record: T, selector: str, digest: str, *, ttl: int) -> Put:
        """Write an unspent record for `ttl` seconds."""
        return Put(self.live.key(selector, digest), _LIVE + self.live.encode(record), ttl)

    def put_new(self, record: T, selector: str, digest: str, *, ttl: int) -> PutNew:
        """Write an unspent record, unless one is there, spent or not."""
        return PutNew(self.live.key(selector, digest), _LIVE + self.live.encode(record), ttl)

    def extend(self, selector: str, digest: str, *, ttl: int) -> Extend:
        """Keep the record for `ttl` seconds from now, if it is still there."""
        return self.live.extend(selector, digest, ttl=ttl)

    def spend(self, marker: Spent, selector: str, digest: str, *, ttl: int) -> Swap:
        """Leave the marker in the record's place, for `ttl` seconds."""
        return Swap(self.live.key(selector, digest), _SPENT + SPENT.encode(marker), ttl)

    def was_won(self, before: bytes | None, *, attempt: str) -> bool:
        """Whether the answer to `spend` says that this attempt is the one that used the record."""
        if before is None:
            return False
        return before[:1] == _LIVE or SPENT.decode(before[1:]).attempt == attempt
