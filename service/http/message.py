"""What is a request to a handler that pages do not need: aiohttp's own, or one that arrived whole?"""

from __future__ import annotations

import msgspec
from aiohttp import web
from multidict import CIMultiDictProxy


class WholeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request of the fast lane: it came in one piece and needs no reading any more.

    Its members mean what they mean in aiohttp's `Request`.
    """

    method: str
    path: str
    headers: CIMultiDictProxy[str]
    body: bytes
    remote: str | None
    peer_certificate: bytes | None = None
    """That the caller has shown in the TLS handshake, as DER."""


Message = web.Request | WholeRequest
