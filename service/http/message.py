"""Requests as handlers see them: aiohttp's own, or one that arrived whole by the fast lane."""

from __future__ import annotations

import msgspec
from aiohttp import web
from multidict import CIMultiDictProxy


class WholeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that needs no more reading; its members are those of aiohttp's `Request`."""

    method: str
    path: str
    headers: CIMultiDictProxy[str]
    body: bytes
    remote: str | None
    peer_certificate: bytes | None = None
    """The client certificate of the TLS handshake, as DER."""


Message = web.Request | WholeRequest
