"""Shows long lists a page at a time: nothing that a user collects makes a page long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")

PER_PAGE = 20
"""Rows of a list on a page."""

MAX_DIGITS = 4


class PageOf(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A part of a list, and where it is."""

    items: Sequence[T]
    number: int
    """Counted from one."""
    last: int


def page_of(items: Sequence[T], wanted: str | None) -> PageOf[T]:
    """Return the part that a query parameter asks for; the nearest that there is."""
    last = max(1, -(-len(items) // PER_PAGE))
    is_number = wanted is not None and wanted.isdecimal() and len(wanted) <= MAX_DIGITS
    number = min(max(int(wanted or 1) if is_number else 1, 1), last)
    return PageOf(
        items=items[(number - 1) * PER_PAGE : number * PER_PAGE], number=number, last=last
    )
