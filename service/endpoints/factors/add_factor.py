"""/account/security/add: the user adds a second factor, at the own account or while signing in (NIST SP 800-63B §6.1.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from service.authorize.flow import WaitingRequest
from service.endpoints.factors.shown import (
    asked_on,
    links_to_others,
    notice_of_recovery_codes,
    read_attempt,
)
from service.endpoints.factors.step import find_factor_turn
from service.identity.factors.enrolment import EnrolmentMethod, FactorChanges, Owner, read_name
from service.identity.factors.methods import MFA
from service.identity.sign_in import SignIn
from service.protocol.errors import AccessDenied
from service.protocol.paths import ACCOUNT, ADD_FACTOR, LOGIN, SECOND_FACTOR, SECURITY
from service.web.endpoint import Answer, Direct, Message
from service.web.visits import Visit, Visits, return_path

PATH = ADD_FACTOR


class _Enrolment(msgspec.Struct, frozen=True, kw_only=True):
    """A user with permission to add a factor."""

    sign_in: SignIn
    methods: Mapping[str, EnrolmentMethod]


class AddFactorEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Answers users who have just signed in, however they came here; while signing in only for their first factor."""

    visits: Visits
    changes: FactorChanges

    def routes(self) -> Iterable[Direct]:
        return self.visits.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: Message) -> Answer:
        visit = await self.visits.open_page(request)
        waiting = await self.visits.find_waiting(visit, visit.params.get("request"))
        enrolment = await self._find_enrolment(visit, waiting)
        if isinstance(enrolment, Answer):
            return enrolment
        return await self._show(visit, waiting, enrolment)

    async def submit(self, request: Message) -> Answer:
        visit = await self.visits.open_form(request)
        waiting = await self.visits.find_waiting(visit, visit.params.get("request"))
        enrolment = await self._find_enrolment(visit, waiting)
        if isinstance(enrolment, Answer):
            return enrolment
        if waiting and visit.params.get("action") == "cancel":
            return await self.visits.refuse(visit, waiting, AccessDenied("the user cancelled"))
        so_far = enrolment.sign_in
        method = enrolment.methods.get(visit.params.get("method") or "")
        if method is None:
            return await self._show(visit, waiting, enrolment)
        attempt = read_attempt(self.visits, visit, waiting, so_far.subject)
        added = await self.changes.add(method, attempt)
        if added is None:
            return await self._show(visit, waiting, enrolment, error="invalid_factor")
        if MFA in so_far.methods:  # one that was added is no reason to trust the session more
            return self.visits.go(visit, SECURITY)
        # The person has signed in when it was, not now.
        completed = so_far.with_second_factor((*added.amr, MFA), at=so_far.auth_time)
        notice = notice_of_recovery_codes(self.visits, added.recovery_codes)
        return await self.visits.continue_as(visit, waiting, completed, notice=notice)

    async def _find_enrolment(
        self, visit: Visit, waiting: WaitingRequest | None
    ) -> _Enrolment | Answer:
        """Return what the user has proved within the last minutes; else the way to where that can be done."""
        turn = await find_factor_turn(self.visits.flow, visit.visitor, waiting)
        if turn is not None and not turn.enrollable:
            return self.visits.lead_to(visit, waiting, SECOND_FACTOR)
        if turn is not None:
            if not await self.visits.visitors.has_just_proved(visit.visitor, turn.sign_in):
                return self.visits.lead_to(visit, waiting, LOGIN)
            return await self._begin_enrolment(turn.sign_in, among=turn.enrollable)
        if waiting is not None:
            return await self.visits.go_on(visit, waiting)
        session = await self.visits.visitors.find_fresh_session(visit.visitor)
        if session is None:
            chosen = visit.params.get("method")
            known = chosen in {method.name for method in self.changes.methods}
            return self.visits.go_to_login(visit, f"{PATH}?method={chosen}" if known else PATH)
        return await self._begin_enrolment(SignIn.of_session(session))

    async def _begin_enrolment(
        self, so_far: SignIn, *, among: Collection[str] | None = None
    ) -> _Enrolment:
        """Return the methods that the user can add, or those of some names."""
        factors = await self.changes.second_factors.enrolled.find(so_far.subject)
        found = self.changes.find_addable(factors)
        methods = {name: one for name, one in found.items() if among is None or name in among}
        return _Enrolment(sign_in=so_far, methods=methods)

    async def _show(
        self,
        visit: Visit,
        waiting: WaitingRequest | None,
        enrolment: _Enrolment,
        *,
        error: str | None = None,
    ) -> Answer:
        """Return the page for the kind of factor that is chosen, or else the first one that can be added."""
        so_far, addable = enrolment.sign_in, enrolment.methods
        chosen = visit.params.get("method") or ""
        name = chosen if chosen in addable else next(iter(addable), None)
        if name is None:
            return self.visits.lead_to(visit, waiting, SECURITY)
        username = await self.visits.visitors.subjects.find_username(so_far) or ""
        owner = Owner(sub=so_far.subject, username=username)
        back = return_path(visit.params)
        is_at_own_account = back == ACCOUNT and visit.visitor.session is not None
        if is_at_own_account or back.partition("?")[0] == PATH:
            back = SECURITY
        place = {"request": waiting.parked.id} if waiting else {"return_to": back}
        context = {
            "action": PATH,
            "return_to": None if waiting else back,
            "method": name,
            "name": read_name(visit.params.get("name")),
            "form": await addable[name].prepare(owner, visit.params, asked_on(visit, waiting)),
            "others": links_to_others(self.visits, visit, PATH, addable, name, place=place),
            "cancel_href": None if waiting else self.visits.href(visit.visitor, back, {}),
            "error": error,
        }
        return self.visits.show(visit, "add_factor.html", waiting, context=context)
