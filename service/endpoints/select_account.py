"""/account/select, /account/not-allowed: the user goes on with this account, or takes another (OIDC Core §3.1.2.1, RFC 6749 §4.1.2.1)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from aiohttp import web
from msgspec.structs import replace

from service.authorize.flow import WaitingRequest
from service.authorize.steps import LOGIN, NOT_ALLOWED, SELECT_ACCOUNT
from service.protocol.errors import AccessDenied
from service.web.visits import Visit, Visits


class SelectAccountEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Asks which account it shall be: because the client wishes it, or because this one may not use the client."""

    visits: Visits

    def routes(self) -> Iterable[web.RouteDef]:
        page_and_form = self.visits.errors.page_and_form
        return (
            *page_and_form(SELECT_ACCOUNT.path, self.page, self.submit),
            *page_and_form(NOT_ALLOWED.path, self.page_of_refusal, self.submit_of_refusal),
        )

    async def page(self, request: web.Request) -> web.Response:
        visit = await self.visits.open_page(request)
        waiting = await self.visits.require_waiting(visit)
        return await self._show(visit, waiting, "select_account.html", SELECT_ACCOUNT.path)

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

    async def page_of_refusal(self, request: web.Request) -> web.Response:
        """Tell the user that this account may not use the client."""
        visit = await self.visits.open_page(request)
        waiting = await self.visits.require_waiting(visit)
        if not await self._is_refused(visit, waiting):
            return await self.visits.advance(visit, waiting)
        return await self._show(visit, waiting, "not_allowed.html", NOT_ALLOWED.path)

    async def submit_of_refusal(self, request: web.Request) -> web.Response:
        visit = await self.visits.open_form(request)
        waiting = await self.visits.require_waiting(visit)
        if visit.params.get("action") == "other":
            return self.visits.go(visit, LOGIN.path, waiting.parked.id)
        if not await self._is_refused(visit, waiting):
            return await self.visits.advance(visit, waiting)
        return await self.visits.refuse(visit, waiting, AccessDenied(NOT_ALLOWED.reason))

    async def _is_refused(self, visit: Visit, waiting: WaitingRequest) -> bool:
        """Return whether the present user may not use the client; another one may have signed in since, in another window."""
        _, step = await self.visits.flow.find_step(waiting, visit.visitor)
        return step is NOT_ALLOWED

    async def _show(
        self, visit: Visit, waiting: WaitingRequest, template: str, path: str
    ) -> web.Response:
        context = {"action": path, "user": await self.visits.shown_user(visit.visitor)}
        return self.visits.show(visit, template, waiting, context=context)
