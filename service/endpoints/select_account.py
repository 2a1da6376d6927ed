"""/account/select: the user goes on with this account, or takes another (OIDC Core §3.1.2.1)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from service.authorize.interaction import Interaction, Step
from service.protocol.errors import AccessDenied, AccountSelectionRequired
from service.protocol.paths import LOGIN
from service.web.endpoint import Answer, Direct, Message
from service.web.visits import Visits


def _is_needed(interaction: Interaction) -> bool:
    """Ask once per request; without a session the login page asks anyway."""
    return (
        "select_account" in interaction.request.prompt
        and interaction.session is not None
        and not interaction.answers.account_selected
        and not interaction.answers.authenticated
    )


PATH = "/account/select"
SELECT_ACCOUNT = Step(path=PATH, refusal=AccountSelectionRequired, is_needed=_is_needed)


class SelectAccountEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    visits: Visits

    def routes(self) -> Iterable[Direct]:
        return self.visits.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: Message) -> Answer:
        visit = await self.visits.open_page(request)
        waiting = await self.visits.require_waiting(visit)
        context = {"action": PATH, "user": await self.visits.shown_user(visit.visitor)}
        return self.visits.show(visit, "select_account.html", waiting, context=context)

    async def submit(self, request: Message) -> Answer:
        visit = await self.visits.open_form(request)
        waiting = await self.visits.require_waiting(visit)
        match visit.params.get("action"):
            case "cancel":
                return await self.visits.refuse(visit, waiting, AccessDenied("the user cancelled"))
            case "other":
                return self.visits.go(visit, LOGIN, waiting.parked.id)
            case _ if visit.form_session is None:
                return await self.visits.advance(visit, waiting)
            case _:
                answers = waiting.parked.answers.of(visit.form_session)
                answers = replace(answers, account_selected=True)
                return await self.visits.advance(visit, waiting, answers)
