"""Encodes records as bytes that neighbouring releases can read (docs/decisions/record-versions.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec
import structlog

log = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")

FIRST = 1
"""The version of bytes without a mark."""

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
        mark = b"" if version == FIRST else b"v%d " % version
        decode = msgspec.json.Decoder(type).decode

        def encode(record: T) -> bytes:
            return mark + _encode(record)

        def decode_marked(value: bytes) -> T:
            try:
                return decode(value.removeprefix(mark))
            except msgspec.DecodeError:
                return decode(self._remove_mark(value))

        self.encode: Callable[[T], bytes] = encode if mark else _encode
        self.decode = decode_marked
        """Raises ValueError for bytes that this release does not understand."""

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
