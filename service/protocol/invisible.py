"""The characters that nobody sees, and names without those that people type or paste around them."""

from __future__ import annotations

import re
import unicodedata

INVISIBLE = re.compile(
    "["
    # control characters, surrogates, and separators of lines
    "\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029"
    # Default_Ignorable_Code_Point, which includes Bidi_Control (DerivedCoreProperties.txt)
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)


def trim_name(name: str) -> str:
    """Return the name without white space and characters of no width before and after it, such as NBSP or U+200B."""
    visible = [at for at, letter in enumerate(name) if not _is_blank(letter)]
    return name[visible[0] : visible[-1] + 1] if visible else ""


def _is_blank(letter: str) -> bool:
    return letter.isspace() or unicodedata.category(letter) == "Cf"
