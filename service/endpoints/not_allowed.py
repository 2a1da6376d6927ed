"""/account/not-allowed: the user learns that this account may not use the client, and may take another (RFC 6749 §4.1.2.1)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from aiohttp import web

from service.authorize.flow import WaitingRequest
from service.authorize.steps import LOGIN, NOT_ALLOWED
from service.pages.visits import Visit, Visits
from service.protocol.errors import AccessDenied

PATH = NOT_ALLOWED.path


class NotAllowedEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    visits: Visits

    def routes(self) -> Iterable[web.RouteDef]:
        return self.visits.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: web.Request) -> web.Response:
        visit = await self.visits.open_page(request)
        waiting = await self.visits.require_waiting(visit)
        if not await self._is_turn(visit, waiting):
            return await self.visits.advance(visit, waiting)
        context = {"action": PATH, "user": await self.visits.shown_user(visit.visitor)}
        return self.visits.show(visit, "not_allowed.html", waiting, context=context)

    async def submit(self, request: web.Request) -> web.Response:
        visit = await self.visits.open_form(request)
        waiting = await self.visits.require_waiting(visit)
        if visit.params.get("action") == "other":
            return self.visits.go(visit, LOGIN.path, waiting.parked.id)
        if not await self._is_turn(visit, waiting):
            return await self.visits.advance(visit, waiting)
        error = AccessDenied(NOT_ALLOWED.reason)
        return await self.visits.refuse(visit, waiting, error)

    async def _is_turn(self, visit: Visit, waiting: WaitingRequest) -> bool:
        """Return whether the present user may not use the client; another one may have signed in since, in another window."""
        _, step = await self.visits.flow.find_step(waiting, visit.visitor)
        return step is NOT_ALLOWED
