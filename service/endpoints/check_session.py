"""GET /connect/checksession: a frame that clients ask whether a login has changed (OpenID Connect Session Management §3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Template
from typing import Self

from aiohttp import web

from service.pages.page_headers import framed_script_policy
from service.pages.template_folders import BUILT_IN

PATH = "/connect/checksession"
MAX_AGE = 3600
"""Seconds that a cache may keep it: it is the same for everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSessionEndpoint:
    """Shows a page with one script, which any page may frame; it knows nothing but the browser's own cookie."""

    script: str

    @classmethod
    def reading(cls, cookie: str) -> Self:
        """The endpoint whose script reads the cookie of this name."""
        template = Template((BUILT_IN / "check_session.js").read_text())
        return cls(script=template.substitute(cookie=cookie))

    def routes(self) -> Iterable[web.RouteDef]:
        return (web.get(PATH, self.frame),)

    def metadata(self) -> Mapping[str, object]:
        """Where it is (OIDC Session Management §3.3)."""
        return {"check_session_iframe": PATH}

    async def frame(self, _: web.Request) -> web.Response:
        """The page."""
        html = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Session</title>'
            f"<script>{self.script}</script></html>"
        )
        headers = {
            "Cache-Control": f"public, max-age={MAX_AGE}",
            "Content-Security-Policy": framed_script_policy(self.script),
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        return web.Response(text=html, content_type="text/html", headers=headers)
