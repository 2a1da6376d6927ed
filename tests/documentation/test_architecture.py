"""`docs/architecture.md` lists everything."""

from __future__ import annotations

import re

from tests.documentation.reading import REPOSITORY
from tests.store.table import find_kinds

DOCUMENT = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOMS, STORED = (
    DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    for title in ("Where things are", "What is stored")
)


def test_each_room_of_the_service_is_listed() -> None:
    rooms = {file.parent.name for file in (REPOSITORY / "service").glob("*/__init__.py")}
    assert sorted(rooms - {*re.findall(r"`(\w+)/`", ROOMS)}) == []


def test_each_kind_of_what_is_stored_is_listed() -> None:
    kinds = {kind.name for _, kind in find_kinds()}
    assert len(kinds) > 40
    assert sorted(kinds - {*re.findall(r"[:`]([a-z]{2})\b", STORED)}) == []
