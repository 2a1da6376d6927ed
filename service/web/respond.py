"""Answering machines: JSON that nobody caches or mistakes for something else."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from aiohttp import web

NO_STORE: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Pragma": "no-cache",
    "X-Content-Type-Options": "nosniff",
}
"""On all that carries tokens, codes, or errors about them (RFC 6749 §5.1)."""


def json_response(
    content: Mapping[str, object], *, status: int = 200, headers: Mapping[str, str] = NO_STORE
) -> web.Response:
    """An answer that must not be kept."""
    return web.Response(
        body=orjson.dumps(content), status=status, headers=headers, content_type="application/json"
    )


def see_other(location: str) -> web.Response:
    """A redirect by GET, whatever the request was (RFC 9110 §15.4.4, RFC 9700 §4.12)."""
    return web.Response(
        status=303, headers={**NO_STORE, "Location": location, "Referrer-Policy": "no-referrer"}
    )
