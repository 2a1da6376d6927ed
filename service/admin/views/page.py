"""Cuts lists into pages: a cursor leads from each page to the next one."""

from __future__ import annotations

import binascii
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable, Sequence
from heapq import nsmallest
from typing import Generic, TypeVar

import msgspec

from service.protocol.errors import InvalidRequest
from service.protocol.octets import base64url
from service.store.records import Member

T = TypeVar("T")

DEFAULT_LIMIT, MAX_LIMIT = 50, 200
MAX_DIGITS = 15
_LIMIT = re.compile(r"[1-9][0-9]{0,2}")


class Paging(msgspec.Struct, frozen=True):
    """The page that is asked for."""

    cursor: str | None = None
    """`next` of the page before; None for the first one."""
    limit: int = DEFAULT_LIMIT
    """Entries at most; a page can have fewer, also where it is not the last one."""

    @classmethod
    def read(cls, *, cursor: str | None, limit: str | None) -> Paging:
        """Read query parameters; raise InvalidRequest for an invalid limit."""
        if limit is None:
            return cls(cursor)
        if not (_LIMIT.fullmatch(limit) and int(limit) <= MAX_LIMIT):
            raise InvalidRequest(f"limit is not a number from 1 to {MAX_LIMIT}")
        return cls(cursor, int(limit))

    @property
    def after(self) -> str | None:
        """The text in the cursor; raise InvalidRequest for one that no page has."""
        if self.cursor is None:
            return None
        try:
            padding = "=" * (-len(self.cursor) % 4)
            return urlsafe_b64decode(self.cursor.encode() + padding.encode()).decode()
        except (binascii.Error, ValueError) as error:
            raise bad_cursor() from error


class Page(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """Entries of a list; `next` is the cursor of the page after it, None after the last one."""

    items: tuple[T, ...]
    next: str | None = None


def bad_cursor() -> InvalidRequest:
    """Return the error of a cursor that is not `next` of a page of this list."""
    return InvalidRequest("cursor is not the next of a page of this list")


def cursor_after(text: str) -> str:
    """Return the cursor of the page after the entry that this text names."""
    return base64url(text.encode())


def read_member(paging: Paging, is_name: Callable[[str], bool]) -> Member | None:
    """Return the member of an index that a page follows; raise InvalidRequest for a cursor of another list."""
    if paging.after is None:
        return None
    expires_at, _, name = paging.after.partition(" ")
    if not (expires_at.isascii() and expires_at.isdecimal() and len(expires_at) <= MAX_DIGITS):
        raise bad_cursor()
    if not is_name(name):
        raise bad_cursor()
    return Member(int(expires_at), name)


def cut_members(members: Sequence[Member], paging: Paging) -> tuple[Sequence[Member], str | None]:
    """Return the members of a page of which one more was asked for, and the cursor of the next page."""
    shown = members[: paging.limit]
    if len(members) <= len(shown):
        return shown, None
    return shown, cursor_after(f"{shown[-1].expires_at} {shown[-1].name}")


def cut_names(names: Iterable[str], paging: Paging) -> tuple[Sequence[str], str | None]:
    """Return the names of a page in their order, and the cursor of the next page."""
    after = paging.after
    following = names if after is None else (name for name in names if name > after)
    found = nsmallest(paging.limit + 1, following)
    shown = found[: paging.limit]
    return shown, cursor_after(shown[-1]) if len(found) > len(shown) else None
