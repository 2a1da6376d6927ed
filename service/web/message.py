"""What is a request to a handler that pages do not need: aiohttp's own, or one that arrived whole?"""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web
from multidict import CIMultiDict


@dataclass(slots=True, kw_only=True)
class WholeRequest:
    """A request of the fast lane: it came in one piece and needs no reading any more.

    Its members mean what they mean in aiohttp's `Request`.
    """

    method: str
    path: str
    headers: CIMultiDict[str]
    body: bytes
    remote: str | None

    @property
    def content_type(self) -> str:
        """The media type without its parameters (RFC 9110 §8.3.1)."""
        named = self.headers.get("Content-Type", "application/octet-stream")
        return named.partition(";")[0].strip().lower()


Message = web.Request | WholeRequest
