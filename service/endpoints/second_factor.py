"""/account/second-factor: the user gives a second factor, to complete a sign-in or to meet an acr (RFC 9470 §4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from aiohttp import web

from service.authorize.second_factor import SECOND_FACTOR, find_useful
from service.authorize.steps import LOGIN
from service.clock import clock
from service.identity.factors.methods import MFA, FactorAttempt
from service.identity.factors.second_factors import SecondFactors
from service.identity.sign_ins import SignIn
from service.pages.sign_in_pages import (
    ACCOUNT,
    Notice,
    SignInPages,
    Visit,
    WaitingRequest,
    return_path,
)
from service.protocol.errors import AccessDenied

PATH = SECOND_FACTOR.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the user has proved so far, and the ways to prove more."""

    sign_in: SignIn
    offered: Mapping[str, frozenset[str]]
    """Names of methods, with the `amr` that each can add; empty where the user has none that would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorEndpoint:
    """One page for all methods; it answers only while this step is the next one."""

    sign_in: SignInPages
    second_factors: SecondFactors

    def routes(self) -> Iterable[web.RouteDef]:
        return self.sign_in.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: web.Request) -> web.Response:
        visit = await self.sign_in.open_page(request)
        waiting = await self.sign_in.find_waiting(visit, visit.params.get("request"))
        turn = await self._find_turn(visit, waiting)
        if turn is None:
            return await self._go_on(visit, waiting)
        return await self._show(visit, waiting, turn)

    async def submit(self, request: web.Request) -> web.Response:
        visit = await self.sign_in.open_form(request)
        waiting = await self.sign_in.find_waiting(visit, visit.params.get("request"))
        turn = await self._find_turn(visit, waiting)
        if turn is None:
            return await self._go_on(visit, waiting)
        if waiting and visit.params.get("action") == "cancel":
            description = "the user cancelled" if turn.offered else "the user has no second factor"
            return await self.sign_in.refuse(visit, waiting, AccessDenied(description))
        name = visit.params.get("method") or ""
        method = self.second_factors.find_method(name) if name in turn.offered else None
        if method is None:
            return await self._show(visit, waiting, turn)
        attempt = FactorAttempt(
            sub=turn.sign_in.subject, params=visit.params, browser=visit.visitor.browser
        )
        address = self.sign_in.visits.client_address.find(request)
        amr = await self.second_factors.verify(method, attempt, address=address)
        if amr is None:
            return await self._show(visit, waiting, turn, error="invalid_factor")
        completed = turn.sign_in.with_second_factor((*amr, MFA), at=clock())
        notice = await self._tell_of_recovery_codes(name, completed)
        return await self.sign_in.continue_as(visit, waiting, completed, notice=notice)

    async def _find_turn(self, visit: Visit, waiting: WaitingRequest | None) -> Turn | None:
        """Return what the page has to ask for; None if nothing, or if another step comes first."""
        flow, visitor = self.sign_in.flow, visit.visitor
        parked_id = waiting.parked.id if waiting else ""
        sign_in = visitor.sign_in_for(parked_id)
        if sign_in is None:
            return None
        is_partial = visitor.partial is not None and visitor.partial.parked_id == parked_id
        if waiting is not None:
            interaction, step = await flow.find_step(waiting.parked, visitor)
            if step is SECOND_FACTOR and not is_partial:
                return Turn(sign_in=sign_in, offered=find_useful(interaction))
        else:
            step = await flow.find_missing_step(sign_in, None)
        if step is not SECOND_FACTOR:
            return None
        factors = await self.second_factors.enrolled.find(sign_in.subject)
        return Turn(sign_in=sign_in, offered=self.second_factors.find_offered(factors))

    async def _go_on(self, visit: Visit, waiting: WaitingRequest | None) -> web.Response:
        if waiting is not None:
            return await self.sign_in.advance(visit, waiting)
        path = return_path(visit.params)
        if visit.visitor.session is None:
            return self.sign_in.go_to_login(visit, path, LOGIN)
        return self.sign_in.go(visit, path)

    async def _show(
        self,
        visit: Visit,
        waiting: WaitingRequest | None,
        turn: Turn,
        *,
        error: str | None = None,
    ) -> web.Response:
        """Return the page for the method that is chosen, or else the first one."""
        chosen = visit.params.get("method")
        name = chosen if chosen in turn.offered else next(iter(turn.offered), None)
        method = self.second_factors.find_method(name) if name else None
        subject, browser = turn.sign_in.subject, visit.visitor.browser
        path = return_path(visit.params)
        place = {"request": waiting.parked.id} if waiting else {"return_to": path}
        context = {
            "action": PATH,
            "return_to": None if waiting or path == ACCOUNT else path,
            "method": name,
            "form": await method.prepare(subject, browser=browser) if method else {},
            "others": [
                {
                    "name": other,
                    "href": f"{self.sign_in.pages.url(PATH)}?{urlencode(place | {'method': other})}",
                }
                for other in turn.offered
                if other != name
            ],
            "can_cancel": waiting is not None,
            "error": error,
        }
        return self.sign_in.show(visit, "second_factor.html", waiting, context=context)

    async def _tell_of_recovery_codes(self, method: str, sign_in: SignIn) -> Notice | None:
        """Return the page that says how many recovery codes are left, after one was used."""
        if method != "recovery_code":
            return None
        factors = await self.second_factors.enrolled.find(sign_in.subject)

        def show(visit: Visit, waiting: WaitingRequest | None) -> web.Response:
            context = {
                "left": len(factors.recovery_codes),
                "continue_href": self.sign_in.way_after(visit, waiting),
            }
            return self.sign_in.show(visit, "recovery_code_used.html", waiting, context=context)

        return show
