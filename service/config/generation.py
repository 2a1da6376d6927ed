"""What the registry is called, so that replicas can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from json import JSONEncoder

from service.config.configuration import NEEDS_RESTART
from service.config.problem import Location
from service.config.reading.values import Value

_NO_CONTENT = {(key,) for key in (*NEEDS_RESTART, "include")}
"""What a reload does not change, and where the entries come from."""


def generation_of(values: Value) -> str:
    """A short hash of the registry's part of all files, the same in every replica that reads the same.

    Entry by entry: as one long text it would hold up all other threads for as long as it takes to write it.
    """
    encode = JSONEncoder(sort_keys=True).encode
    hashed = sha256()
    for location, value in _pieces((), values):
        if location[:1] not in _NO_CONTENT:
            hashed.update(encode([location, value]).encode())
    return hashed.hexdigest()[:16]


def _pieces(location: Location, value: Value) -> Iterator[tuple[Location, Value]]:
    """What is below a location, lists entry by entry."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from _pieces((*location, key), value[key])
    elif isinstance(value, list):
        yield from ((location, entry) for entry in value)
    else:
        yield location, value
