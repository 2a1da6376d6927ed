"""The report of a takeover: what was taken, what is different now, and what was left out and why; never a secret or a hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

MAX_ROWS = 10_000
"""Rows of a list that are shown; the others are counted."""


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

    def take(self, kind: str, count: int = 1) -> None:
        """Count what was taken, such as `clients`."""
        self.taken[kind] += count

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
            "changed": [{"place": row.place, "reason": row.reason} for row in self.changed],
            "not_taken": [msgspec.structs.asdict(row) for row in self.not_taken],
            **({"not_shown": dict(sorted(self.further.items()))} if self.further else {}),
        }

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
            for row in rows:
                yield f"  {row.place}: {row.reason}"
                yield from [f"    {row.what_to_do}"] if row.what_to_do else ()
            if self.further[name]:
                yield f"  … and {self.further[name]} more"


def _visible(text: str) -> str:
    """Return a text in which no character is invisible, commands a terminal, or changes the direction."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
