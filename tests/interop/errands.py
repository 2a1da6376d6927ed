"""The common part of clients in all languages: the person's errands, over HTTP, and URLs of a client's own.

`POST /visit` with `url`, the name of the `person` and perhaps `cancel` answers with the `url` at which
the browser arrived, as JSON, and the `form` that was posted there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any

from aiohttp import web
from playwright.async_api import Browser

from tests.interop.person import Person


@dataclass
class Errands:
    """One browser; each client has a person of its own in it, whom the service knows from before."""

    browser: Browser
    published: dict[str, Any]
    """The public keys of the clients that have one."""
    request_object: str = ""
    """The JWT that a client has put at its `request_uri`."""
    people: dict[str, Person] = field(default_factory=dict)

    def routes(self) -> list[web.RouteDef]:
        """The URL to open, and the URL at which the browser arrives."""
        return [
            web.post("/visit", self.visit),
            web.get("/callback", arrived),
            web.post("/callback", arrived),
            web.get("/signed-out", arrived),
            web.get("/jwks.json", self.jwks),
            web.put("/request.jwt", self.keep_request_object),
            web.get("/request.jwt", self.show_request_object),
        ]

    async def visit(self, request: web.Request) -> web.Response:
        """Send a person to a URL."""
        asked = {name: str(value) for name, value in (await request.post()).items()}
        person = await self.person(asked["person"])
        arrival = await person.visit(asked["url"], cancelling="cancel" in asked)
        return web.json_response({"url": arrival.url, "form": arrival.content})

    async def jwks(self, _: web.Request) -> web.Response:
        """The keys that the service fetches to verify a client's signatures."""
        return web.json_response(self.published)

    async def keep_request_object(self, request: web.Request) -> web.Response:
        """Take the one that the service shall fetch next."""
        self.request_object = await request.text()
        return web.Response(status=204)

    async def show_request_object(self, _: web.Request) -> web.Response:
        """The request object that the service fetches (RFC 9101 §5.2.3)."""
        media_type = "application/oauth-authz-req+jwt"
        return web.Response(text=self.request_object, content_type=media_type)

    async def person(self, name: str) -> Person:
        """The one of this name, with the cookies from earlier visits."""
        if name not in self.people:
            context = await self.browser.new_context(locale="en")
            self.people[name] = Person(await context.new_page())
        return self.people[name]


async def arrived(request: web.Request) -> web.Response:
    """The client's own page, which shows what was posted to it."""
    posted = {name: str(value) for name, value in (await request.post()).items()}
    icon = '<link rel="icon" href="data:,">'
    html = f'<!doctype html>{icon}<title>Client</title><pre id="arrived">{escape(json.dumps(posted))}</pre>'
    return web.Response(text=html, content_type="text/html")
