"""`docs/architecture.md` lists everything."""

from __future__ import annotations

import re
import tomllib

from tests.documentation.reading import REPOSITORY
from tests.store.table import find_kinds

DOCUMENT = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOMS, STORED = (
    DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    for title in ("Where things are", "What is stored")
)


def test_rooms_are_listed_as_imports_go_down() -> None:
    tools = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    (layers,) = (one["layers"] for one in tools["importlinter"]["contracts"] if "layers" in one)
    depths = {name: at for at, layer in enumerate(layers) for name in re.findall(r"\w+", layer)}
    cells = "".join(re.findall(r"^\| .*? \|", ROOMS, re.MULTILINE))
    listed = re.findall(r"\[`(\w+)(?:/|\.py)`\]", cells)
    assert {*depths} - {*listed} == {"__main__"}
    assert sorted(listed, key=depths.__getitem__) == listed


def test_each_kind_of_what_is_stored_is_listed() -> None:
    kinds = {kind.name for _, kind in find_kinds()}
    assert len(kinds) > 40
    assert sorted(kinds - {*re.findall(r"[:`]([a-z]{2})\b", STORED)}) == []
