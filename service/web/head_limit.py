"""How large may a request line with its headers be?"""

from __future__ import annotations

from aiohttp import web
from aiohttp.typedefs import Handler

MAX_HEAD_BYTES = 65536
_SEPARATORS = 4
"""The colon, the space and the line's end of a header."""


@web.middleware
async def head_limit(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what the parser let through, because it counts each line for itself (RFC 6585 §5)."""
    headers = sum(len(name) + len(value) + _SEPARATORS for name, value in request.raw_headers)
    if headers + len(request.raw_path) > MAX_HEAD_BYTES:
        return web.Response(status=431, text="request header fields too large")
    return await handler(request)
