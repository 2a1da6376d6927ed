"""/account/second-factor: the user gives a second factor, to complete a sign-in or to meet an acr (RFC 9470 §4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from service.authorize.flow import WaitingRequest
from service.clock import clock
from service.endpoints.factors.shown import (
    asked_on,
    find_way_after,
    links_to_others,
    read_attempt,
)
from service.endpoints.factors.step import SECOND_FACTOR, FactorTurn, find_factor_turn
from service.identity.factors.methods import MFA
from service.identity.factors.second_factors import SecondFactors, find_requirement
from service.identity.sign_in import SignIn
from service.model.handle import digest
from service.protocol.errors import AccessDenied
from service.protocol.paths import ACCOUNT, ADD_FACTOR, SECURITY
from service.web.endpoint import Answer, Direct, Message
from service.web.pages.display import shorten_name
from service.web.visits import Notice, Visit, Visits, return_path

PATH = SECOND_FACTOR.path


class SecondFactorEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One page for all methods; it answers only while this step is the next one."""

    visits: Visits
    second_factors: SecondFactors

    def routes(self) -> Iterable[Direct]:
        return self.visits.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: Message) -> Answer:
        visit = await self.visits.open_page(request)
        waiting = await self.visits.find_waiting(visit, visit.params.get("request"))
        turn = await find_factor_turn(self.visits.flow, visit.visitor, waiting)
        if turn is None:
            return await self.visits.go_on(visit, waiting)
        return await self._show(visit, waiting, turn)

    async def submit(self, request: Message) -> Answer:
        visit = await self.visits.open_form(request)
        waiting = await self.visits.find_waiting(visit, visit.params.get("request"))
        turn = await find_factor_turn(self.visits.flow, visit.visitor, waiting)
        if turn is None:
            return await self.visits.go_on(visit, waiting)
        if waiting and visit.params.get("action") == "cancel":
            description = "the user cancelled" if turn.offered else "the user has no second factor"
            return await self.visits.refuse(visit, waiting, AccessDenied(description))
        name = visit.params.get("method") or ""
        method = self.second_factors.find_method(name) if name in turn.offered else None
        if method is None or visit.params.get("shown_to") not in {None, _mark(visit, turn)}:
            return await self._show(visit, waiting, turn)
        attempt = read_attempt(self.visits, visit, waiting, turn.sign_in.subject)
        amr = await self.second_factors.verify(method, attempt)
        if amr is None:
            return await self._show(visit, waiting, turn, error="invalid_factor")
        completed = turn.sign_in.with_second_factor((*amr, MFA), at=clock())
        notice = await self._tell_of_recovery_codes(name, completed)
        return await self.visits.continue_as(visit, waiting, completed, notice=notice)

    async def _show(
        self,
        visit: Visit,
        waiting: WaitingRequest | None,
        turn: FactorTurn,
        *,
        error: str | None = None,
    ) -> Answer:
        """Return the page for the method that is chosen, or else the first one."""
        if not turn.offered and turn.enrollable:
            return self.visits.lead_to(visit, waiting, ADD_FACTOR)
        chosen = visit.params.get("method")
        name = chosen if chosen in turn.offered else next(iter(turn.offered), None)
        method = self.second_factors.find_method(name) if name else None
        subject, asked = turn.sign_in.subject, asked_on(visit, waiting)
        username = await self.visits.visitors.subjects.find_username(turn.sign_in)
        path = return_path(visit.params)
        place = {"request": waiting.parked.id} if waiting else {"return_to": path}
        context: Mapping[str, object] = {
            "action": PATH,
            "return_to": None if waiting or path == ACCOUNT else path,
            "method": name,
            "shown_to": _mark(visit, turn),
            "username": shorten_name(username or ""),
            "form": await method.prepare(subject, asked) if method else {},
            "others": links_to_others(self.visits, visit, PATH, turn.offered, name, place=place),
            "security_path": SECURITY if self._can_enrol_at_account() else None,
            "can_cancel": waiting is not None,
            "error": error,
        }
        return self.visits.show(visit, "second_factor.html", waiting, context=context)

    def _can_enrol_at_account(self) -> bool:
        """Return whether a user without a factor can come to the page where one is enrolled."""
        registry = self.visits.registry
        return find_requirement(registry, None) != "always"

    async def _tell_of_recovery_codes(self, method: str, sign_in: SignIn) -> Notice | None:
        """Return the page that says how many recovery codes are left, after one was used."""
        if method != "recovery_code":
            return None
        factors = await self.second_factors.enrolled.find(sign_in.subject)

        def show(visit: Visit, waiting: WaitingRequest | None) -> Answer:
            context = {
                "left": len(factors.recovery_codes),
                "continue_href": find_way_after(self.visits, visit, waiting),
            }
            return self.visits.show(visit, "recovery_code_used.html", waiting, context=context)

        return show


def _mark(visit: Visit, turn: FactorTurn) -> str:
    """Return what differs between the forms of two users in a browser; a password alone discloses no `sub`."""
    return digest(f"{visit.visitor.browser} {turn.sign_in.subject}")
