"""SHA-256 of short content by the interpreter's own code (FIPS 180-4 §6.2).

For a hash of 70 bytes OpenSSL runs twenty times as much code as the hash needs, and that evicts the code of the request
from the CPU's caches: 2 % of a token request (docs/performance.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Protocol, cast


class _Hash(Protocol):
    def digest(self) -> bytes: ...


def _find_constructor() -> Callable[[bytes], _Hash]:
    """Return the constructor that hashlib uses without OpenSSL, or that of OpenSSL if the interpreter was built with that alone."""
    try:
        find = hashlib.__get_builtin_constructor  # type: ignore[attr-defined]  # noqa: SLF001 - the public way to it is OpenSSL
        return cast("Callable[[bytes], _Hash]", find("sha256"))
    except (AttributeError, ValueError):
        return hashlib.sha256


sha256 = _find_constructor()
