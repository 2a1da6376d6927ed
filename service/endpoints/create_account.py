"""/account/create: leads to the operator's page for new accounts (Initiating User Registration via OpenID Connect 1.0 §4)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from service.authorize.interaction import Interaction, Step
from service.protocol.authorization_request import CREATE
from service.protocol.errors import InteractionRequired
from service.protocol.paths import LOGIN
from service.protocol.redirect_uri import with_query
from service.web.endpoint import Answer, Direct, Message, see_other
from service.web.visits import Visits


def _is_needed(interaction: Interaction) -> bool:
    """Lead there until the user has signed in; nowhere without such a page."""
    return (
        CREATE in interaction.request.prompt
        and not interaction.answers.authenticated
        and interaction.register_link is not None
    )


CREATE_ACCOUNT = Step(path="/account/create", refusal=InteractionRequired, is_needed=_is_needed)


class CreateAccountEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    visits: Visits

    def routes(self) -> Iterable[Direct]:
        return (self.visits.errors.page(CREATE_ACCOUNT.path, self.leave),)

    async def leave(self, request: Message) -> Answer:
        """Send the user to that page; `return_to` is the login page, which goes on to the client."""
        visit = await self.visits.open_page(request)
        waiting = await self.visits.require_waiting(visit)
        link = waiting.request.find_register_link(self.visits.flow.links)
        if link is None:
            return self.visits.go(visit, LOGIN, waiting.parked.id)
        base = self.visits.flow.reader.issuer.rstrip("/")
        login = with_query(base + LOGIN, {"request": waiting.parked.id})
        response = see_other(with_query(link, {"return_to": login}))
        return self.visits.mark(response, visit.visitor)
