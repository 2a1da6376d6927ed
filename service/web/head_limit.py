"""How large may a request line with its headers be?"""

from __future__ import annotations

from aiohttp import web

MAX_HEAD_BYTES = 65536
_SEPARATORS = 4
"""The colon, the space and the line's end of a header."""


def head_is_too_large(request: web.Request) -> bool:
    """What the parser let through, because it counts each line for itself (RFC 6585 §5)."""
    lengths = [len(name) + len(value) for name, value in request.raw_headers]
    return sum(lengths) + _SEPARATORS * len(lengths) + len(request.raw_path) > MAX_HEAD_BYTES
