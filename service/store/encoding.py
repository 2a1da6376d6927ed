"""How a thing becomes bytes, and which releases' bytes can be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec
import structlog

log = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")

FIRST = 1
"""The version of what carries none."""

_encode = msgspec.json.Encoder().encode


class TooNew(ValueError):
    """A release that is more than one ahead wrote this; what it means is not known here."""


@dataclass(frozen=True, slots=True)
class Encoding(Generic[T]):
    """JSON, and `v2 `, `v3 `, … before it where the kind of record has changed since its first version.

    Members that this release does not know are passed over, and members that are missing have
    defaults: so every release reads what those before it wrote, and what the next one writes.
    """

    kind: str
    type: type[T]
    version: int = FIRST
    encode: Callable[[T], bytes] = field(init=False, repr=False)
    decode: Callable[[bytes], T] = field(init=False, repr=False)
    """ValueError where these bytes are none that this release understands."""

    def __post_init__(self) -> None:
        """Build both ways once; every request takes them."""
        mark = b"" if self.version == FIRST else b"v%d " % self.version
        decode = msgspec.json.Decoder(self.type).decode

        def marked(record: T) -> bytes:
            return mark + _encode(record)

        def decoded(value: bytes) -> T:
            try:
                return decode(value.removeprefix(mark))
            except msgspec.DecodeError:
                return decode(self._unmarked(value))

        object.__setattr__(self, "encode", marked if mark else _encode)
        object.__setattr__(self, "decode", decoded)

    def is_newer(self, value: bytes) -> bool:
        """Whether the next release wrote these bytes, and may have put into them what is unknown here."""
        return value[:1] == b"v" and _version(value) > self.version

    def _unmarked(self, value: bytes) -> bytes:
        """The JSON behind the mark, if it is one that can be understood."""
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
