"""GET, POST /connect/authorize: a client asks for a user's authorization (RFC 6749 §3.1, OIDC Core §3.1.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
import structlog

from service.authorize.request_object import Arrival
from service.authorize.response_modes import RESPONSE_MODE_NAMES
from service.clients.keys import ClientAlgorithms
from service.model.catalogue import Registrable
from service.protocol.authorization_request import CREATE, PROMPTS, RESPONSE_TYPES
from service.protocol.errors import (
    AlreadyAnswered,
    InvalidRequestUri,
    TemporarilyUnavailable,
    TooManyRequests,
    unforeseen_error,
)
from service.protocol.params import Params
from service.protocol.paths import AUTHORIZE
from service.protocol.pkce import PLAIN, S256
from service.web.endpoint import Answer, Direct, Message
from service.web.parameters import query_params, raw_form_params
from service.web.visits import Visits, explain_end

log = structlog.stdlib.get_logger(__name__)

CONTINUE = "/account/continue"
DISPLAYS = ["page", "popup", "touch"]
"""The same pages fit a window, a small one and a phone (OIDC Core §3.1.2.1)."""


class AuthorizeEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Errors are shown on a page until the redirect URI is verified, and then sent to the client."""

    visits: Visits
    registrable: Registrable
    algorithms: ClientAlgorithms

    def routes(self) -> Iterable[Direct]:
        return (
            *self.visits.errors.page_and_form(AUTHORIZE, self.by_get, self.by_post),
            self.visits.errors.page(CONTINUE, self.go_on),
        )

    def metadata(self) -> Mapping[str, object]:
        clients = [c for c in self.visits.registry.clients.values() if c.enabled]
        used = {name for client in clients for name in client.allowed_response_types}
        used |= self.registrable.response_types
        creates_accounts = "register" in self.visits.pages.looks.ui.links
        plain = any(client.allow_plain_text_pkce for client in clients)
        return {
            "authorization_endpoint": AUTHORIZE,
            "response_types_supported": [kind.name for kind in RESPONSE_TYPES if kind.name in used],
            "response_modes_supported": list(RESPONSE_MODE_NAMES),
            "code_challenge_methods_supported": [S256, PLAIN] if plain else [S256],
            "prompt_values_supported": [*PROMPTS, CREATE] if creates_accounts else list(PROMPTS),
            "display_values_supported": DISPLAYS,
            "authorization_response_iss_parameter_supported": True,
            **self.visits.flow.reader.request_objects.metadata(),
            **self.algorithms.response_metadata("authorization"),
        }

    async def by_get(self, request: Message) -> Answer:
        """Send the browser to the first page, or the answer to the client."""
        flow, visitor = self.visits.flow, None
        arrival = await self._arrival(request, query_params(request))
        try:
            cookies = self.visits.cookies.read(request)
            visitor, _ = await flow.visitors.find(cookies, note_use=False)
            outcome = await flow.begin(arrival, visitor)
        except TooManyRequests:
            raise  # as a page, because the client would only send the user again
        except AlreadyAnswered as late:
            raise InvalidRequestUri("request_uri is used: begin again at the application") from late
        except TemporarilyUnavailable as error:
            outcome = await flow.refuse_with(await flow.reader.reply_to(arrival), error)
        except Exception:
            log.exception("unforeseen error in an authorization request")
            unforeseen = unforeseen_error()
            outcome = await flow.refuse_with(await flow.reader.reply_to(arrival), unforeseen)
        return self.visits.send(request, outcome, visitor, arrival.params.get("ui_locales"))

    async def by_post(self, request: Message) -> Answer:
        """Park it and come back by GET: a cross-site POST carries no session cookie."""
        flow = self.visits.flow
        arrival = await self._arrival(request, await raw_form_params(request))
        outcome = await flow.postpone(arrival, CONTINUE)
        return self.visits.send(request, outcome, None, arrival.params.get("ui_locales"))

    async def _arrival(self, request: Message, sent: Params) -> Arrival:
        return await self.visits.flow.arriving.open(
            sent, address=self.visits.client_address.find(request)
        )

    async def go_on(self, request: Message) -> Answer:
        """Continue a request that came by POST, now with the browser's cookies."""
        visit = await self.visits.open_page(request)
        flow, parked_id = self.visits.flow, visit.params.get("request") or ""
        with explain_end(parked_id):
            browser = visit.visitor.browser
            parked = await flow.parking.open_or_bind(parked_id, visit.found, browser=browser)
        outcome = await flow.resume(parked, visit.visitor)
        ui_locales = parked.params.get("ui_locales")
        return self.visits.send(request, outcome, visit.visitor, ui_locales)
