"""Writes docs/decisions/README.md: every decision with its date and status, the newest first."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs/decisions"

HEADING = re.compile(
    r"# (?P<title>.+)\n\n\*(?P<status>Accepted|Superseded by .+), (?P<date>\d{4}-\d\d-\d\d)\*\n"
)

INTRODUCTION = """\
# Decisions

Choices that would surprise a reader, and why they were made. A page begins with its status and date
(`*Accepted, 2026-11-21*`); a decision that no longer holds says which one superseded it. `make docs` writes this index.

| date | decision | status |
|---|---|---|
"""


def render() -> str:
    """Return the index; raise SystemExit for a page without status and date."""
    rows = [row(path) for path in sorted(FOLDER.glob("*.md")) if path.name != "README.md"]
    rows.sort(key=lambda each: each[:12], reverse=True)
    return INTRODUCTION + "".join(rows)


def row(path: Path) -> str:
    """Return the decision's row."""
    found = HEADING.match(path.read_text())
    if found is None:
        raise SystemExit(f"{path}: a decision begins with '# title' and '*Accepted, YYYY-MM-DD*'")
    return f"| {found['date']} | [{found['title']}]({path.name}) | {found['status']} |\n"
