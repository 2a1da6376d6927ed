"""/account/create: leads to the operator's page for new accounts (prompt=create)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from aiohttp import web

from service.authorize.account_creation import PATH, find_register_link
from service.authorize.steps import LOGIN
from service.http.endpoint import see_other
from service.pages.sign_in_pages import SignInPages
from service.protocol.redirect_uri import with_query


class CreateAccountEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    sign_in: SignInPages

    def routes(self) -> Iterable[web.RouteDef]:
        return (self.sign_in.errors.page(PATH, self.leave),)

    async def leave(self, request: web.Request) -> web.Response:
        """Send the user to that page; `return_to` is the login page, which goes on to the client."""
        visit = await self.sign_in.open_page(request)
        waiting = await self.sign_in.require_waiting(visit)
        link = find_register_link(self.sign_in.pages.looks.ui.links, waiting.request.tenant)
        if link is None:
            return self.sign_in.go(visit, LOGIN.path, waiting.parked.id)
        base = self.sign_in.flow.reader.issuer.rstrip("/")
        login = with_query(base + LOGIN.path, {"request": waiting.parked.id})
        response = see_other(with_query(link, {"return_to": login}))
        return self.sign_in.visits.mark(request, response, visit.visitor)
