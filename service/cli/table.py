"""Plain text in columns, as the commands print it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime


def table(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of rows of one length, each column as wide as its widest cell."""
    shown = [[_printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()


def written(at: int) -> str:
    """Seconds since the epoch as RFC 3339 writes them."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _printable(cell: str) -> str:
    """A terminal must not take what somebody else chose for a command."""
    return "".join(character if character.isprintable() else "?" for character in cell) or "-"
