"""Reports the settings of an export that are not taken, so that none is lost without a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from service.takeover.node import Node
from service.takeover.record import Record
from service.takeover.report import Report

_UNSET = frozenset({"none", "", "false", "0", "-1", "[]", "{}"})
"""Values that say that nothing is set, as texts in lower case."""
_NOTHING: Mapping[str, str | None] = {}


class Notice(msgspec.Struct, frozen=True):
    """A row of the report about a setting; without an advice it is one of the changes."""

    reason: str
    what_to_do: str = ""
    usual: tuple[str, ...] = ()
    """The values of every realm, in lower case, of which there is nothing to say."""


_UNKNOWN = Notice(
    "a setting that is not known here",
    "nothing to do, unless an application or an extension of the old server reads it",
)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of one kind of object."""

    read: frozenset[str]
    """Those that other code of the importer takes or reports."""
    idle: frozenset[str] = frozenset()
    """Those that no application and no user notices."""
    idle_prefixes: tuple[str, ...] = ()
    reported: Mapping[str, Notice]

    def knows(self, key: str) -> bool:
        """Return whether it is decided what becomes of the key."""
        return key in self.read or key in self.reported or self.is_idle(key)

    def is_idle(self, key: str) -> bool:
        """Return whether the key says nothing to applications and users."""
        return key in self.idle or key.startswith(self.idle_prefixes)

    def report(
        self, source: Node | Record, report: Report, *, usual: Mapping[str, str | None] = _NOTHING
    ) -> None:
        """Report each member that is set, and neither read nor idle; `usual` are further values of which there is nothing to say.

        Records have keys in any case: the table of one has them in lower case.
        """
        for key, place, value in _members(source):
            if key in self.read or self.is_idle(key) or is_unset(value):
                continue
            notice = self.reported.get(key) or _UNKNOWN
            written = str(value).lower()
            if written in notice.usual or written == (usual.get(key) or "").lower():
                continue
            if notice.what_to_do:
                report.leave_out(place, notice.reason, notice.what_to_do)
            else:
                report.change(place, notice.reason)


def _members(source: Node | Record) -> Iterator[tuple[str, str, object]]:
    """Yield the key, the place and the value of each member; what is not an object has none, and its reader reports it."""
    if isinstance(source, Record):
        for key, value in source.members().items():
            yield key.lower(), source.below(key), value
    elif isinstance(source.value, dict):
        for key, member in source.members():
            yield key, member.place, member.value


def is_unset(value: object) -> bool:
    """Return whether a value says that nothing is set."""
    return value in (None, False, 0) or str(value).lower() in _UNSET
