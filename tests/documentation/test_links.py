"""Every link within the documentation leads somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documentation.reading import PAGES, REPOSITORY, anchors, links


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not leads_somewhere(page, link)] == []


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))
