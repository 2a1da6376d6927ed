"""Every link within the documentation leads somewhere; one that names a test leads to that test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documentation.reading import PAGES, REPOSITORY, anchors, links, prose


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not leads_somewhere(page, link)] == []


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_a_test_that_defends_is_there() -> None:
    named = [
        (name, page.parent / path)
        for page in (REPOSITORY / "docs/security").glob("*.md")
        for name, path in re.findall(
            r"\[([\w ]+)\]\((\.\./\.\./tests/\w+/test_\w+\.py)\)", prose(page)
        )
    ]
    missing = [
        name
        for name, path in named
        if f"def test_{name.replace(' ', '_')}(" not in path.read_text()
    ]
    assert len(named) > 80
    assert missing == []


def test_a_page_that_the_code_names_is_there() -> None:
    named = [
        (file.relative_to(REPOSITORY).as_posix(), page)
        for file in (REPOSITORY / "service").rglob("*.py")
        for page in re.findall(r"\bdocs/[\w/-]+\.md\b", file.read_text())
    ]
    assert len(named) > 10
    assert [(file, page) for file, page in named if not (REPOSITORY / page).exists()] == []
