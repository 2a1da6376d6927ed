"""/account/select: the user chooses this account or another (OIDC Core §3.1.2.1, prompt=select_account)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from aiohttp import web
from msgspec.structs import replace

from service.authorize.steps import LOGIN, SELECT_ACCOUNT
from service.pages.visits import Visits
from service.protocol.errors import AccessDenied

PATH = SELECT_ACCOUNT.path


class SelectAccountEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    visits: Visits

    def routes(self) -> Iterable[web.RouteDef]:
        return self.visits.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: web.Request) -> web.Response:
        visit = await self.visits.open_page(request)
        waiting = await self.visits.require_waiting(visit)
        context = {"action": PATH, "user": await self.visits.shown_user(visit.visitor)}
        return self.visits.show(visit, "select_account.html", waiting, context=context)

    async def submit(self, request: web.Request) -> web.Response:
        visit = await self.visits.open_form(request)
        waiting = await self.visits.require_waiting(visit)
        match visit.params.get("action"):
            case "cancel":
                error = AccessDenied("the user cancelled")
                return await self.visits.refuse(visit, waiting, error)
            case "other":
                return self.visits.go(visit, LOGIN.path, waiting.parked.id)
            case _ if visit.form_session is None:
                return await self.visits.advance(visit, waiting)
            case _:
                answers = waiting.parked.answers.of(visit.form_session)
                answers = replace(answers, account_selected=True)
                return await self.visits.advance(visit, waiting, answers)
