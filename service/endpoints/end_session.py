"""/connect/endsession and /account/logout: a client or the user ends the session (RP-Initiated Logout)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

import msgspec
import structlog

from service.authorize.flow import NextStep
from service.authorize.parking import Parking
from service.authorize.visitors import Visitor
from service.logout.request import LogoutRequest, UserLogout, read_logout_request
from service.protocol.errors import AlreadyAnswered, InvalidRequest, RefusedValue
from service.protocol.params import Params
from service.protocol.paths import ACCOUNT, END_SESSION
from service.web.endpoint import Answer, Direct, Message, see_other
from service.web.pages.cookies import Cookie
from service.web.parameters import form_params, query_params
from service.web.visits import Visits, csrf_token

log = structlog.stdlib.get_logger(__name__)

CONFIRM = "/account/logout"


class EndSessionEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Ends a session at once if one of its clients proves that it asks; otherwise asks the user."""

    visits: Visits
    logout: UserLogout
    parking: Parking

    def routes(self) -> Iterable[Direct]:
        page_and_form = self.visits.errors.page_and_form
        return (
            *page_and_form(END_SESSION, self.by_get, self.by_post),
            *page_and_form(CONFIRM, self.confirm, self.submit),
        )

    def metadata(self) -> Mapping[str, object]:
        return {
            "end_session_endpoint": END_SESSION,
            "frontchannel_logout_supported": True,
            "frontchannel_logout_session_supported": True,
            "backchannel_logout_supported": True,
            "backchannel_logout_session_supported": True,
        }

    async def by_get(self, request: Message) -> Answer:
        visit = await self.visits.open_page(request, note_use=False)
        visit.params.refuse_too_long()
        logout = await self._read(visit.params)
        if not logout.must_ask(visit.visitor.session):
            return await self._end(request, logout, visit.visitor)
        return await self._ask(request, visit.params, visit.visitor)

    async def by_post(self, request: Message) -> Answer:
        """Park it and come back by GET: a cross-site POST carries no session cookie."""
        return await self._ask(request, await form_params(request), None)

    async def confirm(self, request: Message) -> Answer:
        """Continue what came by POST, or ask the user."""
        parked_id = query_params(request).get("request")
        visitor, logout = await self._find_parked(request, parked_id)
        if not logout.must_ask(visitor.session):
            return await self._end(request, logout, visitor, parked_id)
        page = self.visits.pages.render(
            request,
            "logout.html",
            ui_locales=logout.ui_locales,
            leads_away=logout.continue_uri is not None,
            context={
                "action": CONFIRM,
                "csrf": csrf_token(visitor.browser),
                "parked_request": parked_id or "",
                "session_id": visitor.session.id if visitor.session else "",
                "client": logout.shown_client,
                "user": await self.visits.shown_user(visitor),
            },
        )
        return self.visits.mark(page, visitor)

    async def submit(self, request: Message) -> Answer:
        """End the session that the page was shown to, or return to the account if the user cancels."""
        params = await form_params(request)
        self.visits.check_form(request, params, leads_to=None)
        if params.get("action") == "cancel":
            return see_other(self.visits.pages.url(ACCOUNT))
        parked_id = params.get("request")
        visitor, logout = await self._find_parked(request, parked_id)
        session = visitor.session
        if session is not None and session.id != params.get("session_id"):
            step = NextStep(CONFIRM, parked_id or "")
            return self.visits.send(request, step, visitor, None)
        return await self._end(request, logout, visitor, parked_id)

    async def _end(
        self,
        request: Message,
        logout: LogoutRequest,
        visitor: Visitor,
        parked_id: str | None = None,
    ) -> Answer:
        """End the session in the store, then tell the clients, and send the user to the client or a page.

        The page loads the clients' frames before it goes on (Front-Channel Logout §3).
        """
        session = visitor.session
        frames = () if session is None else await self.logout.end(session)
        self._warn_of_refused_uri(logout)
        continue_uri = logout.continue_after(session)
        if continue_uri is not None and not await self._is_first_answer(parked_id):
            continue_uri = None
        if continue_uri is not None and not frames:
            response = see_other(continue_uri)
        else:
            context = {"client": logout.shown_client, "continue_uri": continue_uri}
            again = {} if frames else {"action": CONFIRM}
            response = self.visits.pages.render(
                request,
                "logged_out.html",
                ui_locales=logout.ui_locales,
                frame_src=frames,
                context={**context, **again, "frontchannel_uris": frames},
            )
        cookies = self.visits.cookies
        if cookies.get(request, Cookie.SESSION):
            cookies.clear_session(response)
        return response

    def _warn_of_refused_uri(self, logout: LogoutRequest) -> None:
        if logout.client is None or logout.wanted_uri is None or logout.continue_uri is not None:
            return
        client_id = logout.client.client_id
        refused = RefusedValue("post_logout_redirect_uri", logout.wanted_uri, client_id)
        log.warning(
            "post_logout_redirect_uri is not registered", client_id=client_id, value=refused.shown
        )

    async def _is_first_answer(self, parked_id: str | None) -> bool:
        """Return whether no other submission of the form leads to the client; the logout may be repeated."""
        try:
            if parked_id is not None:
                await self.parking.claim(parked_id).make()
        except AlreadyAnswered:
            return False
        return True

    async def _find_parked(
        self, request: Message, parked_id: str | None
    ) -> tuple[Visitor, LogoutRequest]:
        """Return the visitor and the parked request; one without parameters if nothing is parked, or no longer."""
        sent, reads = self.visits.cookies.read(request), self.parking.reads(parked_id or "")
        visitor, found = await self.visits.visitors.find(sent, *reads)
        params, browser = Params({}), visitor.browser
        with suppress(InvalidRequest):
            parked = await self.parking.open_or_bind(parked_id or "", found, browser=browser)
            params = parked.params
        return visitor, await self._read(params)

    async def _read(self, params: Params) -> LogoutRequest:
        return await read_logout_request(params, self.visits.flow.reader.id_tokens)

    async def _ask(self, request: Message, params: Params, visitor: Visitor | None) -> Answer:
        address = self.visits.client_address.find(request)
        browser = visitor.browser if visitor else None
        parked_id = await self.parking.park(params, browser=browser, address=address)
        return self.visits.send(request, NextStep(CONFIRM, parked_id), visitor, None)
