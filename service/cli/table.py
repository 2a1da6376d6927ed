"""Prints lists as a table with a header, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import click

from service.clock import format_time

format_option = click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the result is printed.",
)


def print_rows(
    names: Sequence[str], rows: Iterable[Sequence[str | int | None]], output: str
) -> None:
    """Print rows below a header of the names, or as JSON objects that have these names; numbers are times."""
    shown = [[format_time(cell) if isinstance(cell, int) else cell for cell in row] for row in rows]
    if output == "json":
        print_json([dict(zip(names, row, strict=True)) for row in shown])
    else:
        print_table([[name.replace("_", " ").upper() for name in names], *shown])


def print_json(result: object) -> None:
    click.echo(json.dumps(result, indent=2))


def print_table(rows: Iterable[Sequence[str | None]]) -> None:
    """Print rows of one length, each column as wide as its widest cell."""
    shown = [[_printable(cell or "") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        click.echo("  ".join(cells).rstrip())


def _printable(cell: str) -> str:
    """Replace control characters: text that a user or client chose must not command the terminal."""
    return "".join(character if character.isprintable() else "?" for character in cell) or "-"
