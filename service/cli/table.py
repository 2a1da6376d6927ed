"""Prints lists as a table with a header, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

import click

format_option = click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the result is printed.",
)


def print_rows(names: Sequence[str], rows: Iterable[Sequence[str | None]], output: str) -> None:
    """Print rows below a header of the names, or as JSON objects that have these names."""
    if output == "json":
        print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    header = [name.replace("_", " ").upper() for name in names]
    for line in table([header, *([cell or "" for cell in row] for row in rows)]):
        click.echo(line)


def print_json(result: object) -> None:
    """Print the result as indented JSON."""
    click.echo(json.dumps(result, indent=2))


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
