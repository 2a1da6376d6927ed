"""/account/select: go on with this account, or with another? (OIDC Core §3.1.2.1, prompt=select_account)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from aiohttp import web

from service.authorize.flow import NextStep
from service.authorize.steps.login import Login
from service.authorize.steps.select_account import SelectAccount
from service.pages.error_page import ErrorPages
from service.pages.sign_in_pages import SignInPages, who_answers
from service.protocol.errors import AccessDenied

PATH = SelectAccount.path


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectAccountEndpoint:
    """The account that is signed in at this browser, or the login page for another."""

    sign_in: SignInPages
    errors: ErrorPages

    def routes(self) -> Iterable[web.RouteDef]:
        """The page and its form."""
        return self.errors.page_and_form(PATH, self.page, self.submit)

    def metadata(self) -> Mapping[str, object]:
        """Pages are no metadata."""
        return {}

    async def page(self, request: web.Request) -> web.Response:
        """Show who is signed in."""
        visitor, params = await self.sign_in.open(request)
        waiting = await self.sign_in.waiting(params, visitor)
        context = {"action": PATH, "user": await self.sign_in.visits.shown_user(visitor)}
        return self.sign_in.show(request, "select_account.html", visitor, waiting, context=context)

    async def submit(self, request: web.Request) -> web.Response:
        """Go on with the account, sign in with another, or cancel."""
        visitor, params = await self.sign_in.submitted(request)
        waiting = await self.sign_in.waiting(params, visitor)
        answers = replace(waiting.parked.answers, account_selected=True)
        match params.get("action"):
            case "cancel":
                outcome = await self.sign_in.refused(
                    waiting, visitor, AccessDenied("the person cancelled")
                )
            case "other":
                outcome = NextStep(Login.path, waiting.parked_id)
            case _ if who_answers(visitor, params) is None:
                outcome = await self.sign_in.resumed(waiting, visitor)
            case _:
                outcome = await self.sign_in.answered(waiting, visitor, answers)
        return self.sign_in.go_on(request, outcome, visitor, waiting.request.ui_locales)
