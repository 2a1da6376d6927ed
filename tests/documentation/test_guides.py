"""Every guide stands in docs/guides.md."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def test_docs_link_to_every_guide() -> None:
    text = (REPOSITORY / "docs/guides.md").read_text()
    folders = (REPOSITORY / "examples/guides").glob("*/*/")
    missing = [folder.name for folder in folders if f"/{folder.name}/" not in text]
    assert missing == []
