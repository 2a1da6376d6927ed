"""Writes every generated document: `python -m scripts.docs`."""

from __future__ import annotations

from pathlib import Path

from scripts.docs.documents import DOCUMENTS

DOCS = Path(__file__).parents[2] / "docs"

for name, render in DOCUMENTS.items():
    (DOCS / name).write_text(render(), encoding="utf-8")
    print(f"docs/{name}")
