"""Judges the name that a client chose for itself and that users will read (OpenID Connect Registration §2)."""

from __future__ import annotations

import re
import unicodedata

MAX_LENGTH = 80
"""Characters."""

_INVISIBLE = re.compile(
    "["
    # control characters, surrogates, and separators of lines
    "\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029"
    # Default_Ignorable_Code_Point, which includes Bidi_Control (DerivedCoreProperties.txt)
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
_BLANK = "\u2800"
"""The Braille pattern without a dot: Unicode calls it a symbol, and it looks like a space."""


def unfit_name(name: str) -> str | None:
    """Return what is wrong with the name, if anything."""
    if len(name) > MAX_LENGTH:
        return f"is longer than {MAX_LENGTH} characters"
    if _INVISIBLE.search(name):
        return "has characters that cannot be seen"
    if not any(unicodedata.category(each)[0] in "LNPS" and each != _BLANK for each in name):
        return "has nothing in it that can be seen"
    return None
