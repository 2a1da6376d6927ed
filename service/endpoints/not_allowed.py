"""/account/not-allowed: tells users that this account may not use the client (RFC 6749 §4.1.2.1)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from service.authorize.interaction import Step
from service.protocol.errors import AccessDenied
from service.protocol.paths import LOGIN
from service.web.endpoint import Answer, Direct, Message
from service.web.visits import Visits

PATH = "/account/not-allowed"
NOT_ALLOWED = Step(
    path=PATH,
    refusal=AccessDenied,
    reason="the user may not use the client",
    is_needed=lambda interaction: not interaction.may_use_client,
)


class NotAllowedEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Offers another account; another user may have signed in since, in another window."""

    visits: Visits

    def routes(self) -> Iterable[Direct]:
        return self.visits.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: Message) -> Answer:
        visit = await self.visits.open_page(request)
        waiting = await self.visits.require_waiting(visit)
        if not await self.visits.find_turn(NOT_ALLOWED, visit, waiting):
            return await self.visits.advance(visit, waiting)
        context = {"action": PATH, "user": await self.visits.shown_user(visit.visitor)}
        return self.visits.show(visit, "not_allowed.html", waiting, context=context)

    async def submit(self, request: Message) -> Answer:
        visit = await self.visits.open_form(request)
        waiting = await self.visits.require_waiting(visit)
        if visit.params.get("action") == "other":
            return self.visits.go(visit, LOGIN, waiting.parked.id)
        if not await self.visits.find_turn(NOT_ALLOWED, visit, waiting):
            return await self.visits.advance(visit, waiting)
        return await self.visits.refuse(visit, waiting, AccessDenied(NOT_ALLOWED.reason))
