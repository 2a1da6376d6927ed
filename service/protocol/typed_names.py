"""Names as people type or paste them, with white space around that nobody sees."""

from __future__ import annotations

import unicodedata


def trim_name(name: str) -> str:
    """Return the name without white space and characters of no width before and after it, such as NBSP or U+200B."""
    visible = [at for at, letter in enumerate(name) if not _is_blank(letter)]
    return name[visible[0] : visible[-1] + 1] if visible else ""


def _is_blank(letter: str) -> bool:
    return letter.isspace() or unicodedata.category(letter) == "Cf"
