"""Writes docs/decisions/README.md: every decision with its date and status, by subject."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs/decisions"

HEADING = re.compile(
    r"# (?P<title>.+)\n\n\*(?P<status>Accepted|Superseded by .+), (?P<date>\d{4}-\d\d-\d\d)\*\n"
)

INTRODUCTION = """\
# Decisions

Choices that would surprise a reader, and why they were made, by subject. A page begins with its status and date
(`*Accepted, 2026-11-21*`); a decision that no longer holds says which one superseded it. `make docs` writes this index.
"""

SUBJECTS = {
    "tokens": "Tokens, and their users",
    "grants": "Grants",
    "sign-in": "Users and sign-in",
    "pages": "Pages",
    "clients": "Clients",
    "keys": "Signing and encryption keys",
    "store": "Redis",
    "configuration": "Configuration",
    "server": "Server and processes",
    "code": "Code",
    "deployment": "Installing and deploying",
}
"""The folders of decisions, with their headings."""


def render() -> str:
    """Return the index; raise SystemExit for a page without status and date."""
    unknown = {path.parent.name for path in FOLDER.glob("*/*.md")} - SUBJECTS.keys()
    if unknown:
        raise SystemExit(f"folders of decisions without a subject: {', '.join(sorted(unknown))}")
    return INTRODUCTION + "".join(map(_section, SUBJECTS))


def _section(folder: str) -> str:
    rows = "".join(_row(path) for path in sorted((FOLDER / folder).glob("*.md")))
    return f"\n## {SUBJECTS[folder]}\n\n| decision | date | status |\n|---|---|---|\n{rows}"


def _row(path: Path) -> str:
    """Return the decision's row."""
    found = HEADING.match(path.read_text())
    if found is None:
        raise SystemExit(f"{path}: a decision begins with '# title' and '*Accepted, YYYY-MM-DD*'")
    link = f"{path.parent.name}/{path.name}"
    status = found["status"].replace("](", f"]({path.parent.name}/")
    return f"| [{found['title']}]({link}) | {found['date']} | {status} |\n"
