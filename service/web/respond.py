"""Answering machines: JSON that nobody caches or mistakes for something else."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from aiohttp import web
from multidict import CIMultiDict

NO_STORE: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Pragma": "no-cache",
    "X-Content-Type-Options": "nosniff",
}
"""On all that carries tokens, codes, or errors about them (RFC 6749 §5.1)."""


_JSON_NO_STORE = CIMultiDict({"Content-Type": "application/json", **NO_STORE})
"""Made once and copied: each answer needs headers of its own, and these never change."""


def json_response(
    content: Mapping[str, object], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    """An answer that must not be kept, with further headers where it needs them."""
    all_headers = _JSON_NO_STORE.copy()
    if headers:
        all_headers.update(headers)
    return web.Response(body=orjson.dumps(content), status=status, headers=all_headers)


def document(content: bytes, headers: CIMultiDict[str]) -> web.Response:
    """JSON from memory, with headers that were made by `document_headers`."""
    return web.Response(body=content, headers=headers.copy())


def document_headers(*, max_age: int) -> CIMultiDict[str]:
    """The headers of a public document that caches may keep for `max_age` seconds."""
    return CIMultiDict(
        {
            "Content-Type": "application/json",
            "Cache-Control": f"public, max-age={max_age}",
            "X-Content-Type-Options": "nosniff",
        }
    )


def see_other(location: str) -> web.Response:
    """A redirect by GET, whatever the request was (RFC 9110 §15.4.4, RFC 9700 §4.12)."""
    return web.Response(
        status=303, headers={**NO_STORE, "Location": location, "Referrer-Policy": "no-referrer"}
    )
