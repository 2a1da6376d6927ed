"""Is this process about to stop?"""

from __future__ import annotations

from aiohttp import web


class Draining:
    """Begins at SIGTERM: no longer ready, but serving until the balancers have noticed."""

    def __init__(self) -> None:
        self.began = False

    def begin(self) -> None:
        """Turn readiness red, and every answer into the last one of its connection."""
        self.began = True

    def add_header(self, response: web.StreamResponse) -> None:
        """Send callers to another replica with their next request (RFC 9112 §9.6)."""
        if self.began:
            response.headers["Connection"] = "close"
            response.force_close()
