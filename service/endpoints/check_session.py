"""GET /connect/checksession: the frame that tells clients whether a session has changed (OpenID Connect Session Management §3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Template
from typing import Self

import msgspec
from aiohttp import web

from service.web.pages.looks import BUILT_IN
from service.web.pages.pages import script_hash

PATH = "/connect/checksession"
MAX_AGE = 3600


class CheckSessionEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Any page may frame it; its script reads one cookie, which holds no secret."""

    script: str

    @classmethod
    def reading(cls, cookie: str) -> Self:
        """Return the endpoint whose script reads the cookie of this name."""
        template = Template((BUILT_IN / "check_session.js").read_text())
        return cls(script=template.substitute(cookie=cookie))

    def routes(self) -> Iterable[web.RouteDef]:
        return (web.get(PATH, self.frame),)

    def metadata(self) -> Mapping[str, object]:
        return {"check_session_iframe": PATH}

    async def frame(self, _: web.Request) -> web.Response:
        html = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Session</title>'
            f"<script>{self.script}</script></html>"
        )
        headers = {
            "Cache-Control": f"public, max-age={MAX_AGE}",
            "Content-Security-Policy": f"default-src 'none'; script-src {script_hash(self.script)}",
        }
        return web.Response(text=html, content_type="text/html", headers=headers)
