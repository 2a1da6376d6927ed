"""Reads attributes that a directory sends in parts, as Active Directory does beyond 1,500 values (MS-ADTS §3.1.1.3.1.3.3)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence

import structlog
from msgspec.structs import replace

from service.identity.sources.ldap.connections import Entry, Search

log = structlog.stdlib.get_logger(__name__)

MAX_VALUES = 15_000
"""Values of one attribute; of an attribute with more the user has none, and not some of them."""

_PART = re.compile(r"(.+);range=\d+-(\d+|\*)")
"""A part of the values by the name that it has, and the number of its last value; * is in the last part."""

Find = Callable[[Search], Awaitable[Sequence[Entry]]]


async def complete(entry: Entry, find: Find) -> Entry:
    """Return the entry with all values of the attributes of which it has a part."""
    attributes = dict(entry.attributes)
    for name in entry.attributes:
        if part := _PART.fullmatch(name):
            attributes[part[1]] = await _read_all(entry, part, find)
    return replace(entry, attributes=attributes)


async def _read_all(entry: Entry, part: re.Match[str], find: Find) -> Sequence[bytes]:
    """Return the values of all parts; none if one is missing, or if there are too many."""
    attribute, last = part.groups()
    values = [*entry.values(part[0])]
    while last != "*":
        wanted = f"{attribute};range={int(last) + 1}-*"
        search = Search(
            base=entry.dn, scope="base", filter="(objectClass=*)", attributes=(wanted,), most=1
        )
        found = [
            (each, more)
            for each in await find(search)
            for name in each.attributes
            if (more := _PART.fullmatch(name)) and more[1] == attribute
        ]
        if len(found) != 1 or len(values) > MAX_VALUES:
            log.warning("an attribute has too many values, and is left out", attribute=attribute)
            return ()
        ((each, more),) = found
        values += each.values(more[0])
        last = more[2]
    return values
