"""Text that people type or paste: the characters that nobody sees, names without them, and the domain of an e-mail address.

Domains are compared in one form (RFC 5321 §2.3.5, RFC 5890 §2.3.2.1).
"""

from __future__ import annotations

import re
import unicodedata

_DOMAIN = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+")

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


def is_plain_text(text: str, *, longest: int) -> bool:
    """Return whether the text is short enough and has no control characters."""
    return len(text) <= longest and not any(unicodedata.category(c) in {"Cc", "Cs"} for c in text)


def _is_blank(letter: str) -> bool:
    return letter.isspace() or unicodedata.category(letter) == "Cf"


def normalize_domain(domain: str) -> str | None:
    """Return the domain in lower case and ASCII, without a dot at its end; None if it cannot be one."""
    try:
        ascii_form = domain.removesuffix(".").encode("idna").decode().lower()
    except UnicodeError:
        return None
    return ascii_form if _DOMAIN.fullmatch(ascii_form) else None


def find_domain(address: str) -> str | None:
    """Return the domain of an e-mail address; None for a user name without one."""
    local_part, _, domain = trim_name(address).rpartition("@")
    return normalize_domain(domain) if local_part else None
