"""Reads a page of Markdown: its headings, its blocks of code, its links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAGES = [
    path
    for path in (
        *REPOSITORY.glob("*.md"),
        *REPOSITORY.glob("docs/**/*.md"),
        *REPOSITORY.glob("examples/**/*.md"),
        REPOSITORY / "api/README.md",
    )
    if "node_modules" not in path.parts
]


@dataclass(frozen=True)
class Block:
    """A fenced block, and the heading that it stands under."""

    section: str
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    """Every fenced block of the page, in order."""
    section, found = "", []
    parts = re.split(
        r"^(#+ [^\n]*|```[\w ]*\n.*?^```)$", page.read_text(), flags=re.MULTILINE | re.DOTALL
    )
    for part in parts:
        if part.startswith("#"):
            section = part.lstrip("# ")
        elif part.startswith("```"):
            language, _, text = part.removeprefix("```").partition("\n")
            found.append(Block(section, language.strip(), text.removesuffix("```")))
    return found


def prose(page: Path) -> str:
    """The page without its code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def headings(page: Path) -> list[str]:
    """Its headings, without the title."""
    return re.findall(r"^##+ (.*)$", prose(page), re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The names that a link may have after `#`, as GitHub makes them of the headings."""
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in headings(page)}


def links(page: Path) -> list[str]:
    """The targets of its links within the repository."""
    targets: list[str] = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    return [target for target in targets if "://" not in target]


def says(expected: str, actual: str) -> bool:
    """Whether an output is what the page shows; `…` stands for anything, white space for none."""
    pattern = re.escape(re.sub(r"\s", "", expected)).replace("…", ".*")
    return re.fullmatch(pattern, re.sub(r"\s", "", actual)) is not None
