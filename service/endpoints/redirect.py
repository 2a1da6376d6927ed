"""GET of paths that only lead elsewhere: / to the account, /.well-known/change-password (W3C) and /account/create to the operator's pages."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from aiohttp import web

from service.authorize.steps import CREATE_ACCOUNT_PATH, LOGIN
from service.protocol.redirect_uri import with_query
from service.web.endpoint import see_other
from service.web.visits import Visits

HOME = "/"
CHANGE_PASSWORD = "/.well-known/change-password"


class RedirectEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    location: str | None
    """None for no such path."""

    def routes(self) -> Iterable[web.RouteDef]:
        return (web.get(self.path, self.redirect),) if self.location else ()

    async def redirect(self, _: web.Request) -> web.Response:
        return see_other(self.location or "")


class CreateAccountEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """/account/create leads to the operator's page for new accounts (prompt=create)."""

    visits: Visits

    def routes(self) -> Iterable[web.RouteDef]:
        return (self.visits.errors.page(CREATE_ACCOUNT_PATH, self.leave),)

    async def leave(self, request: web.Request) -> web.Response:
        """Send the user to that page; `return_to` is the login page, which goes on to the client."""
        visit = await self.visits.open_page(request)
        waiting = await self.visits.require_waiting(visit)
        link = waiting.request.find_link("register", self.visits.pages.looks.ui.links)
        if link is None:
            return self.visits.go(visit, LOGIN.path, waiting.parked.id)
        base = self.visits.flow.reader.issuer.rstrip("/")
        login = with_query(base + LOGIN.path, {"request": waiting.parked.id})
        response = see_other(with_query(link, {"return_to": login}))
        return self.visits.mark(request, response, visit.visitor)
