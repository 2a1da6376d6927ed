"""How large may a request line with its headers be?"""

from __future__ import annotations

from itertools import chain

from aiohttp import web

MAX_HEAD_BYTES = 65536
_SEPARATORS = 4
"""The colon, the space and the line's end of a header."""


def head_is_too_large(request: web.Request) -> bool:
    """What the parser let through, because it counts each line for itself (RFC 6585 §5)."""
    headers = request.raw_headers
    size = sum(map(len, chain.from_iterable(headers))) + _SEPARATORS * len(headers)
    return size + len(request.raw_path) > MAX_HEAD_BYTES
