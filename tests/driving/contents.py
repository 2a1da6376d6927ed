"""Contents of answers of which the status alone counts."""

from __future__ import annotations

CONTENTS: dict[str, tuple[bytes, dict[str, str]]] = {
    "too long": (b" " * (2 << 20), {}),
    "compressed": (b"(", {"Content-Encoding": "gzip"}),
}
