"""When are two user names the same?"""

from __future__ import annotations

import unicodedata

MAX_USERNAME = 254


def folded(username: str) -> str:
    """The NFKC case-folded form in which user names are compared (Unicode §3.13)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", username).casefold())
