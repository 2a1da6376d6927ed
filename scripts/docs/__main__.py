"""Writes every generated document: `python -m scripts.docs`; with `--check` it only says which are out of date."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.docs.documents import DOCUMENTS

REPOSITORY = Path(__file__).parents[2]

stale = [
    name
    for name, render in DOCUMENTS.items()
    if not (REPOSITORY / name).exists()
    or (REPOSITORY / name).read_text(encoding="utf-8") != render()
]
if "--check" in sys.argv:
    sys.exit("".join(f"{name} is out of date: make docs\n" for name in stale) or None)
for name in stale:
    (REPOSITORY / name).write_text(DOCUMENTS[name](), encoding="utf-8")
    print(name)
