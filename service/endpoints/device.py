"""/device: the user of a device enters its code, signs in, and allows what it asks for (RFC 8628 §3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from service.authorize.device import CONFIRM, PATH, USER_CODE, Outcome, place_in
from service.authorize.flow import NextStep, WaitingRequest
from service.authorize.interaction import Interaction
from service.authorize.user_codes import format_user_code, parse_user_code
from service.events.authorizations import ConsentGiven
from service.protocol.authorization_details import types_of
from service.protocol.errors import InvalidRequest
from service.web.endpoint import Answer, Direct, Message
from service.web.pages.display import shown_details, shown_scopes
from service.web.visits import Visit, Visits, explain_end

MAX_TYPED = 40
"""Characters that the field takes."""


_SHOWN_OUTCOMES: Mapping[Outcome, Mapping[str, object]] = {
    Outcome.ALLOWED: {"allowed": True},
    Outcome.DENIED: {"allowed": False},
    Outcome.ANSWERED_ELSEWHERE: {"allowed": None, "answered_elsewhere": True},
    Outcome.EXPIRED: {"allowed": None},
}


class DeviceEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Asks for the code; a link with the code (§3.3.1) leads to the same confirmation at the end."""

    visits: Visits

    def routes(self) -> Iterable[Direct]:
        return self.visits.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: Message) -> Answer:
        """Ask for the code, or for the decision about the request that waits; or say what was decided.

        A code in a link that a page of another site has followed is not looked up: that page could use up the user's attempts.
        """
        visit = await self.visits.open_page(request)
        if visit.params.get("request"):
            return await self._show_request(visit, await self._require_waiting(visit))
        if visit.params.get(USER_CODE) and not _is_from_elsewhere(request):
            return await self._enter(visit)
        return self._ask_for_code(visit)

    async def submit(self, request: Message) -> Answer:
        visit = await self.visits.open_form(request)
        if visit.params.get("request"):
            return await self._decide(visit, await self._require_waiting(visit))
        return await self._enter(visit)

    async def _enter(self, visit: Visit) -> Answer:
        """Find the device's request by the code, and go on to the first step."""
        typed = visit.params.get(USER_CODE) or ""
        parked_id = await self.visits.flow.devices.enter(
            typed,
            browser=visit.visitor.browser,
            address=self.visits.client_address.find(visit.request),
        )
        waiting = await self.visits.find_waiting(visit, parked_id)
        if waiting is None:
            return self._ask_for_code(visit, error="unknown_code")
        return await self.visits.advance(visit, waiting)

    def _ask_for_code(self, visit: Visit, *, error: str | None = None) -> Answer:
        typed = visit.params.get(USER_CODE) or ""
        code = parse_user_code(typed)
        context = {
            "action": PATH,
            "user_code": format_user_code(code) if code else typed[:MAX_TYPED],
            "error": error,
        }
        return self.visits.show(visit, "device.html", leads_away=True, context=context)

    async def _require_waiting(self, visit: Visit) -> WaitingRequest:
        waiting = await self.visits.require_waiting(visit)
        if place_in(waiting.parked.params) is None:
            raise InvalidRequest("the request is not one of a device")
        return waiting

    async def _show_request(self, visit: Visit, waiting: WaitingRequest) -> Answer:
        flow = self.visits.flow
        if await flow.devices.find(waiting.parked) is None:
            outcome = await flow.devices.find_outcome(waiting.parked)
            context = {"action": PATH, **_SHOWN_OUTCOMES[outcome]}
            return self.visits.show(visit, "device_done.html", waiting, context=context)
        interaction, step = await flow.find_device_step(waiting, visit.visitor)
        if step is not CONFIRM:
            return self._go_on(visit, waiting, step.path)
        if interaction.lacks_acr:
            return await self.visits.refuse(visit, waiting, interaction.refuse_unmet_acr())
        request, registry = interaction.request, flow.registry.current
        context = {
            "action": PATH,
            "user": await self.visits.shown_user(visit.visitor),
            "user_code": _shown_code(waiting),
            "scopes": shown_scopes(registry, request.scope),
            "details": shown_details(registry, request.authorization_details),
        }
        return self.visits.show(visit, "device_confirm.html", waiting, context=context)

    async def _decide(self, visit: Visit, waiting: WaitingRequest) -> Answer:
        """Keep the user's decision, and say it; another user's form asks that user."""
        flow, session, parked = self.visits.flow, visit.form_session, waiting.parked
        interaction, step = await flow.find_device_step(waiting, visit.visitor)
        polled = await flow.devices.find(parked)
        if session is None or step is not CONFIRM or polled is None:
            return self._go_on(visit, waiting, step.path)
        if interaction.lacks_acr:
            return await self.visits.refuse(visit, waiting, interaction.refuse_unmet_acr())
        with explain_end(parked.id):
            if visit.params.get("action") == "allow":
                await flow.devices.allow(parked, polled, interaction)
                flow.emit(_make_event(interaction, session.subject))
            else:
                await flow.devices.deny(parked, subject=session.subject)
        return self._go_on(visit, waiting, PATH)

    def _go_on(self, visit: Visit, waiting: WaitingRequest, path: str) -> Answer:
        step = NextStep(path, waiting.parked.id)
        return self.visits.send(visit.request, step, visit.visitor, None)


def _is_from_elsewhere(request: Message) -> bool:
    """Return whether a page of another origin has made the browser send this (Fetch Metadata §2.2)."""
    return request.headers.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"}


def _shown_code(waiting: WaitingRequest) -> str:
    return format_user_code(parse_user_code(waiting.parked.params.get(USER_CODE) or "") or "")


def _make_event(interaction: Interaction, subject: str) -> ConsentGiven:
    request = interaction.request
    return ConsentGiven(
        client_id=request.client.client_id,
        subject=subject,
        scope=request.scope,
        authorization_details_types=types_of(request.authorization_details),
        remembered=False,
    )
