"""/connect/endsession and /account/logout: a client or a person ends the session (RP-Initiated Logout)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from aiohttp import web

from service.authorize.flow import Visitor
from service.authorize.parking import Parking
from service.clients.directory import Clients
from service.http.answer import see_other
from service.http.parameters import form_params, query_params
from service.http.proxy import ClientAddress
from service.logout.front_channel import FrontChannel
from service.logout.request import LogoutRequest, read_logout_request
from service.model.events import Emit, LoggedOut
from service.pages.csrf import check_csrf, csrf_token
from service.pages.error_page import ErrorPages
from service.pages.pages import Pages
from service.pages.sign_in_pages import ACCOUNT
from service.pages.visits import Visits
from service.protocol.errors import AlreadyAnswered, InvalidRequest
from service.protocol.params import Params
from service.tokens.id_token_hint import IdTokenHints

PATH = "/connect/endsession"
CONFIRM = "/account/logout"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSessionEndpoint:
    """Ends a session at once where its own client proves to ask; else asks the person."""

    clients: Clients
    hints: IdTokenHints
    front_channel: FrontChannel
    parking: Parking
    visits: Visits
    pages: Pages
    client_address: ClientAddress
    errors: ErrorPages
    emit: Emit

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            *self.errors.page_and_form(PATH, self.by_get, self.by_post),
            *self.errors.page_and_form(CONFIRM, self.confirm, self.confirmed),
        )

    def metadata(self) -> Mapping[str, object]:
        """Where it is, and who is told (RP-Initiated Logout §2.1, Front- and Back-Channel Logout §2.1)."""
        return {
            "end_session_endpoint": PATH,
            "frontchannel_logout_supported": True,
            "frontchannel_logout_session_supported": True,
            "backchannel_logout_supported": True,
            "backchannel_logout_session_supported": True,
        }

    async def by_get(self, request: web.Request) -> web.Response:
        """End the session, or ask."""
        params = query_params(request)
        params.refuse_repeated()
        params.refuse_too_long()
        return await self._asked(request, params)

    async def by_post(self, request: web.Request) -> web.Response:
        """Park it and come back by GET: a cross-site POST carries no session cookie."""
        params = await form_params(request)
        return await self._to_confirmation(request, params, browser=None)

    async def confirm(self, request: web.Request) -> web.Response:
        """What came by POST goes on; otherwise ask the person."""
        visitor = await self.visits.find_visitor(request)
        parked_id = query_params(request).get("request")
        params = await self._parked(parked_id, visitor)
        asked = await self._read(params)
        if not asked.must_ask(visitor.session):
            return await self._ended(request, asked, visitor, parked_id)
        page = self.pages.render(
            request,
            "logout.html",
            ui_locales=asked.ui_locales,
            form_action=(asked.continue_uri, *self.pages.further) if asked.continue_uri else (),
            context={
                "action": CONFIRM,
                "csrf": csrf_token(visitor.browser),
                "parked_request": parked_id or "",
                "client": asked.shown_client,
                "user": await self.visits.shown_user(visitor),
            },
        )
        return self.visits.mark(request, page, visitor)

    async def confirmed(self, request: web.Request) -> web.Response:
        """The person said yes, or goes back to the account without signing out."""
        params = await form_params(request)
        check_csrf(self.visits.cookies.browser(request), params.get("csrf"))
        if params.get("action") == "cancel":
            return see_other(self.pages.url(ACCOUNT))
        visitor = await self.visits.find_visitor(request)
        parked_id = params.get("request")
        asked = await self._read(await self._parked(parked_id, visitor))
        return await self._ended(request, asked, visitor, parked_id)

    async def _asked(self, request: web.Request, params: Params) -> web.Response:
        visitor = await self.visits.find_visitor(request)
        asked = await self._read(params)
        if not asked.must_ask(visitor.session):
            return await self._ended(request, asked, visitor)
        response = await self._to_confirmation(request, params, browser=visitor.browser)
        return self.visits.mark(request, response, visitor)

    async def _ended(
        self,
        request: web.Request,
        asked: LogoutRequest,
        visitor: Visitor,
        parked_id: str | None = None,
    ) -> web.Response:
        """The session is over, in the store first; then clients are told and the person goes where it may."""
        session, frames = visitor.session, tuple[str, ...]()
        if session is not None:
            took_part = await self.visits.sessions.end(session)
            self.emit(LoggedOut(subject=session.subject, session_id=session.id))
            frames = await self.front_channel.uris(session, took_part)
        continue_uri = asked.continue_after(session)
        if continue_uri is not None and not await self._is_first_answer(parked_id):
            continue_uri = None
        if continue_uri is not None and not frames:
            response = see_other(continue_uri)
        else:
            response = self.pages.logged_out(
                request,
                frames=frames,
                client=asked.shown_client,
                continue_uri=continue_uri,
                ui_locales=asked.ui_locales,
            )
        if self.visits.cookies.session(request) is not None:
            self.visits.cookies.clear_session(response)
        return response

    async def _is_first_answer(self, parked_id: str | None) -> bool:
        """Whether no other post of the same form leads back to the client; the logout itself may be repeated."""
        try:
            if parked_id is not None:
                await self.parking.claim(parked_id).make()
        except AlreadyAnswered:
            return False
        return True

    async def _parked(self, parked_id: str | None, visitor: Visitor) -> Params:
        """The parameters that wait; none where a person came by itself, or too late."""
        try:
            parked = await self.parking.find_or_bind(parked_id or "", browser=visitor.browser)
        except InvalidRequest:
            return Params({})
        return Params(parked.params)

    async def _read(self, params: Params) -> LogoutRequest:
        return await read_logout_request(params, self.clients, self.hints)

    async def _to_confirmation(
        self, request: web.Request, params: Params, *, browser: str | None
    ) -> web.Response:
        address = self.client_address.find(request)
        parked_id = await self.parking.park(params, browser=browser, address=address)
        return see_other(f"{self.pages.url(CONFIRM)}?{urlencode({'request': parked_id})}")
