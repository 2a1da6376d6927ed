"""A second factor for tests: a step of the sign-in whose code is always the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import service.app
from service.app import STEP_PAGES, StepPage
from service.authorize.flow import NextStep, WaitingRequest
from service.authorize.interaction import Interaction, Step, UnfinishedSignIn
from service.clock import clock
from service.protocol.errors import AccessDenied, InteractionRequired
from service.protocol.paths import LOGIN
from service.web.endpoint import Answer, Direct, Message
from service.web.pages.error_page import ErrorPages
from service.web.visits import Visit, Visits

PATH = "/account/otp"
CODE = "000000"
TEMPLATE = """
<form method="post" action="{{ url(action) }}">
  <input type="hidden" name="csrf" value="{{ csrf }}">
  <input type="hidden" name="request" value="{{ parked_request }}">
  <input id="otp" name="otp">
</form>
"""


def is_missing_from(unfinished: UnfinishedSignIn) -> bool:
    """Whether the code has not been given yet; everybody needs it."""
    return "otp" not in unfinished.sign_in.methods


def can_meet_acr(interaction: Interaction) -> bool:
    """Whether the code is all that the session lacks."""
    session = interaction.session
    return session is not None and interaction.is_acr_met_by((*session.methods, "otp"))


FOR_ACR = Step(path=PATH, refusal=InteractionRequired, can_meet_acr=can_meet_acr)
FOR_EVERYBODY = Step(
    path=PATH,
    refusal=InteractionRequired,
    can_meet_acr=can_meet_acr,
    is_missing_from=is_missing_from,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtpEndpoint:
    """The page of the step."""

    visits: Visits
    errors: ErrorPages

    def routes(self) -> Iterable[Direct]:
        return self.errors.page_and_form(PATH, self.page, self.submit)

    def metadata(self) -> Mapping[str, object]:
        return {}

    async def page(self, request: Message) -> Answer:
        visit = await self.visits.open_page(request)
        waiting = await self.visits.find_waiting(visit, visit.params.get("request"))
        if visit.visitor.sign_in_for(waiting.parked.id if waiting else "") is None:
            return self._start_again(visit, waiting)
        return self._show(visit, waiting)

    async def submit(self, request: Message) -> Answer:
        visit = await self.visits.open_form(request)
        waiting = await self.visits.find_waiting(visit, visit.params.get("request"))
        so_far = visit.visitor.sign_in_for(waiting.parked.id if waiting else "")
        if so_far is None:
            return self._start_again(visit, waiting)
        if waiting and visit.params.get("action") == "cancel":
            return await self.visits.refuse(visit, waiting, AccessDenied("the user cancelled"))
        if visit.params.get("otp") != CODE:
            return self._show(visit, waiting)
        sign_in = so_far.with_second_factor(("otp",), at=clock())
        return await self.visits.continue_as(visit, waiting, sign_in)

    def _start_again(self, visit: Visit, waiting: WaitingRequest | None) -> Answer:
        step = NextStep(LOGIN, waiting.parked.id if waiting else "")
        return self.visits.send(visit.request, step, visit.visitor, None)

    def _show(self, visit: Visit, waiting: WaitingRequest | None) -> Answer:
        return self.visits.show(visit, "otp.html", waiting, context={"action": PATH})


def install(patch: pytest.MonkeyPatch, step: Step, templates: Path) -> dict[str, Any]:
    """Add the step to the list and its page to the endpoints; the configuration of its template."""
    *first, consent = STEP_PAGES
    page = StepPage((step,), lambda _, edge: OtpEndpoint(visits=edge.visits, errors=edge.errors))
    patch.setattr(service.app, "STEP_PAGES", (*first, page, consent))
    templates.mkdir()
    (templates / "otp.html").write_text(TEMPLATE)
    return {"templates": str(templates)}
