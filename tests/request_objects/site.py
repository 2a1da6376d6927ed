"""A client's own server, from which the service fetches request objects."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from aiohttp import web


@dataclass
class Site:
    """Shows what a test has put behind a path, and counts the requests."""

    base: str = ""
    objects: dict[str, str | bytes] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)

    def publish(self, content: str | bytes, path: str = "/request") -> str:
        """Put something behind a path; its URL."""
        self.objects[path] = content
        return self.base + path

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """The content as plain text, or what the path stands for."""
        self.fetched.append(request.path_qs)
        if request.path == "/elsewhere":
            raise web.HTTPFound("/request")
        if request.path == "/slow":
            await asyncio.sleep(2)
        content = self.objects.get(request.path)
        if content is None:
            return web.Response(status=404)
        body = content.encode() if isinstance(content, str) else content
        return web.Response(body=body, content_type="text/plain")
