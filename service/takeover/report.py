"""The report of a takeover: what was taken, what is different now, and what was left out and why; never a secret or a hash."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from service.takeover.node import quoted

MAX_ROWS = 10_000
"""Rows of a list that are shown; the others are counted."""
_ENTRY = re.compile(r"[^\[]*\[\d+\]")
"""The begin of a place, up to the entry that it is in."""


class Row(msgspec.Struct, frozen=True):
    """Something that is different here, or was left out."""

    place: str
    reason: str
    what_to_do: str = ""


class Report:
    """Three lists, which grow while a source is read."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.taken = Counter[str]()
        self.changed: list[Row] = []
        self.not_taken: list[Row] = []
        self.further = Counter[str]()
        """Rows that are not shown, by list."""
        self._names: dict[str, str] = {}

    def take(self, kind: str, count: int = 1) -> None:
        """Count what was taken, such as `clients`."""
        self.taken[kind] += count

    def name(self, place: str, name: str) -> None:
        """Say the name of the entry at a place, which rows about it show."""
        self._names[place] = name

    def change(self, place: str, reason: str) -> None:
        """Note what works differently from now on."""
        self._add("changed", self.changed, Row(place, reason))

    def leave_out(self, place: str, reason: str, what_to_do: str) -> None:
        """Note what was not taken."""
        self._add("not_taken", self.not_taken, Row(place, reason, what_to_do))

    def _add(self, name: str, rows: list[Row], row: Row) -> None:
        if len(rows) < MAX_ROWS:
            rows.append(Row(*map(_visible, (row.place, row.reason, row.what_to_do))))
        else:
            self.further[name] += 1

    @property
    def is_complete(self) -> bool:
        """Whether nothing was left out."""
        return not self.not_taken

    def as_json(self) -> dict[str, object]:
        """Return the report for programs."""
        return {
            "taken": dict(sorted(self.taken.items())),
            "changed": self._as_objects(self.changed, ("place", "reason")),
            "not_taken": self._as_objects(self.not_taken, ("place", "reason", "what_to_do")),
            **({"not_shown": dict(sorted(self.further.items()))} if self.further else {}),
        }

    def _as_objects(self, rows: Sequence[Row], members: Sequence[str]) -> list[dict[str, str]]:
        return [
            {each: getattr(row, each) for each in members}
            | ({} if (name := self._name_of(row)) is None else {"name": _visible(name)})
            for row in rows
        ]

    def _name_of(self, row: Row) -> str | None:
        entry = _ENTRY.match(row.place)
        return self._names.get(entry[0]) if entry else None

    def lines(self) -> Iterator[str]:
        """Yield the report for people."""
        yield "Taken"
        for kind, count in sorted(self.taken.items()):
            yield f"  {count} {kind}"
        if not self.taken:
            yield "  nothing"
        for title, name, rows in (
            ("Changed", "changed", self.changed),
            ("Not taken", "not_taken", self.not_taken),
        ):
            yield from ["", title] if rows else ()
            yield from self._lines_of(rows)
            if self.further[name]:
                yield f"  … and {self.further[name]} more"

    def _lines_of(self, rows: Sequence[Row]) -> Iterator[str]:
        """Yield the lines of rows; a reason that several have comes once, with all their places."""
        alike: dict[tuple[str, str], list[str]] = {}
        for row in rows:
            name = self._name_of(row)
            of = "" if name is None else f" of {_visible(quoted(name))}"
            alike.setdefault((row.reason, row.what_to_do), []).append(row.place + of)
        for (reason, what_to_do), places in alike.items():
            is_alone = len(places) == 1
            yield f"  {places[0]}: {reason}" if is_alone else f"  {reason}"
            yield from [f"    {what_to_do}"] if what_to_do else ()
            yield from () if is_alone else (f"    - {place}" for place in places)


def _visible(text: str) -> str:
    """Return a text in which no character is invisible, commands a terminal, or changes the direction."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
