"""Shares the work of all pages of a sign-in: find the parked request, check the form, go on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager

import msgspec
from aiohttp import web
from msgspec.structs import replace

from service.authorize.flow import AuthorizeFlow, NextStep, Outcome, Visitor
from service.authorize.parking import ParkedRequest, mark_in
from service.authorize.reply_to import ReplyTo
from service.authorize.request import AuthorizeRequest
from service.authorize.second_factor import SECOND_FACTOR
from service.authorize.steps import LOGIN
from service.http.endpoint import see_other
from service.http.parameters import form_params, query_params
from service.identity.sign_ins import SignIn
from service.model.client import Client
from service.model.session import Answers, Session
from service.model.tenant import Tenant
from service.pages.error_page import ErrorPages, SignInOver, WayOn
from service.pages.own_pages import ACCOUNT, FRESH_LOGIN, carry_fresh_login, return_path
from service.pages.pages import Pages
from service.pages.visits import Visits, csrf_token
from service.protocol.errors import InvalidRequest, OAuthError
from service.protocol.params import Params
from service.protocol.redirect_uri import FormPost, with_query


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """A browser's request to a page."""

    request: web.Request
    visitor: Visitor
    params: Params

    @property
    def form_session(self) -> Session | None:
        """The session that the form's page was shown to; None if another user has signed in since."""
        session = self.visitor.session
        return session if session and session.id == self.params.get("session_id") else None


class WaitingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An authorization request that waits for the visitor's answer."""

    parked: ParkedRequest
    request: AuthorizeRequest
    reply_to: ReplyTo

    def client_shown_to(self, visitor: Visitor) -> Client:
        """Return the client; a link alone shows a signed-in user only the host of one that anybody registered (RFC 7591 §5)."""
        client, host = self.request.client, self.reply_to.unverified_client_host
        session, answers = visitor.session, self.parked.answers
        by_link_alone = session is not None and not answers.of(session).authenticated
        return client.under_host(host) if host and by_link_alone else client


Notice = Callable[[Visit, WaitingRequest | None], web.Response]
"""A page between the end of a sign-in and where it leads."""


class SignInPages(msgspec.Struct, frozen=True, kw_only=True):
    """The part that login, account selection, consent and provider pages share."""

    flow: AuthorizeFlow
    visits: Visits
    pages: Pages
    errors: ErrorPages

    async def open_page(self, request: web.Request) -> Visit:
        """Read a GET."""
        params = query_params(request)
        params.refuse_repeated()
        return await self._visit(request, params)

    async def open_form(self, request: web.Request) -> Visit:
        """Read a POST; raise FormExpired unless it is from a page that this browser was shown."""
        params = await form_params(request, repeatable=frozenset({"scope", "claim"}))
        self.visits.check_form(request, params, way_on=self.way_on(params.get("request")))
        return await self._visit(request, params)

    async def _visit(self, request: web.Request, params: Params) -> Visit:
        visitor = await self.visits.find_visitor(request)
        visitor = replace(visitor, fresh_login=params.get(FRESH_LOGIN) or "")
        return Visit(request=request, visitor=visitor, params=params)

    async def find_waiting(self, visit: Visit, parked_id: str | None) -> WaitingRequest | None:
        """Return the client's request; None if the visitor came without one."""
        return None if parked_id is None else await self._read_waiting(visit, parked_id)

    async def require_waiting(self, visit: Visit) -> WaitingRequest:
        """Return the request that the page is about; raise SignInOver if it is gone."""
        return await self._read_waiting(visit, visit.params.get("request") or "")

    async def _read_waiting(self, visit: Visit, parked_id: str) -> WaitingRequest:
        with self.explain_end(parked_id):
            parked = await self.flow.parking.find(parked_id, browser=visit.visitor.browser)
        arrival = await self.flow.reader.reopen(parked.params)
        return WaitingRequest(
            parked=parked,
            reply_to=await self.flow.reader.reply_to(arrival),
            request=await self.flow.reader.read(arrival),
        )

    def way_on(self, parked_id: str | None) -> WayOn:
        """Return the best link for a user whose request is no longer parked: to the client, or the user's account.

        Dynamically registered clients are never linked: anybody can make up such an id.
        """
        client = self.flow.registry.current.clients_by_mark.get(mark_in(parked_id or ""))
        if client and (start := self.start_uri(client)):
            return WayOn(href=start, client=client, starts_again=True)
        if client and client.client_uri:
            return WayOn(href=client.client_uri, client=client)
        return WayOn(href=self.pages.url(ACCOUNT))

    def start_uri(self, client: Client) -> str | None:
        """Return the URL that begins a login at the client; None if it has none (OIDC Core §4)."""
        uri, iss = client.initiate_login_uri, self.flow.reader.issuer
        return with_query(uri, {"iss": iss}) if uri else None

    @contextmanager
    def explain_end(self, parked_id: str | None) -> Generator[None]:
        """Turn the end of a parked request, such as another answer to it, into a page with a link."""
        try:
            yield
        except InvalidRequest as error:
            raise SignInOver(error.description, way_on=self.way_on(parked_id)) from error

    async def advance(
        self, visit: Visit, waiting: WaitingRequest, answers: Answers | None = None
    ) -> web.Response:
        """Keep new answers, and send the browser to the next page or to the client."""
        parked = waiting.parked
        if answers is not None:
            parked = await self.flow.parking.answer(parked, answers)
        with self.explain_end(parked.id):
            outcome = await self.flow.resume(parked, visit.visitor)
        return self.send(visit.request, outcome, visit.visitor, waiting.request.ui_locales)

    async def refuse(
        self, visit: Visit, waiting: WaitingRequest, error: OAuthError
    ) -> web.Response:
        """End the request by an error at the client."""
        with self.explain_end(waiting.parked.id):
            outcome = await self.flow.refuse(waiting.parked, visit.visitor, error)
        return self.send(visit.request, outcome, visit.visitor, waiting.request.ui_locales)

    async def continue_as(
        self,
        visit: Visit,
        waiting: WaitingRequest | None,
        sign_in: SignIn,
        *,
        notice: Notice | None = None,
    ) -> web.Response:
        """Go on to a step that the sign-in lacks, or begin the session and go on to where it leads.

        A notice is shown first, as soon as there is a session; it links to `way_after`.
        """
        visits, visitor = self.visits, visit.visitor
        parked_id, asked = (waiting.parked.id, waiting.request) if waiting else ("", None)
        if visitor.partial and not await visits.partial_sign_ins.end(visitor.partial):
            description = "this sign-in took too long or was continued already"
            raise SignInOver(description, way_on=self.way_on(parked_id))
        missing = await self.flow.find_missing_step(sign_in, asked)
        if missing is not None:
            keep, browser = visits.partial_sign_ins.keep, visitor.browser
            partial = await keep(sign_in, parked_id=parked_id, browser=browser)
            fresh_login = await visits.fresh_logins.begin(partial)
            visitor = replace(visitor, partial=partial, fresh_login=fresh_login)
            visit = replace(visit, visitor=visitor)
            if waiting is None:
                return self.go_to_login(visit, return_path(visit.params), missing.path)
            return self.go(visit, missing.path, parked_id)
        visit = replace(visit, visitor=await visits.sign_in(visit.request, visitor, sign_in))
        response = await self._go_on_signed_in(visit, waiting, notice)
        if visits.cookies.failed_sign_ins(visit.request):
            visits.cookies.set_failed_sign_ins(response, 0, max_age=0)
        return response

    async def _go_on_signed_in(
        self, visit: Visit, waiting: WaitingRequest | None, notice: Notice | None
    ) -> web.Response:
        session = visit.visitor.session
        if waiting is not None and session is not None:
            # Earlier answers may have been another user's.
            answers = replace(Answers().of(session), authenticated_at=session.auth_time)
            parked = await self.flow.parking.answer(waiting.parked, answers)
            waiting = replace(waiting, parked=parked)
        if notice is not None:
            return notice(visit, waiting)
        if waiting is None:
            return self.go(visit, return_path(visit.params))
        return await self.advance(visit, waiting)

    def way_after(self, visit: Visit, waiting: WaitingRequest | None) -> str:
        """Return the link that goes on after a notice."""
        path = SECOND_FACTOR.path if waiting else return_path(visit.params)
        return self.href(visit.visitor, path, {"request": waiting.parked.id} if waiting else {})

    def href(self, visitor: Visitor | None, path: str, query: Mapping[str, str]) -> str:
        """Return the link to a page; where factors are added or changed, it says that it follows a sign-in."""
        if visitor is not None:
            query = {**query, **carry_fresh_login(path, visitor.fresh_login)}
        return with_query(self.pages.url(path), query) if query else self.pages.url(path)

    def send(
        self,
        request: web.Request,
        outcome: Outcome,
        visitor: Visitor | None,
        ui_locales: str | None,
    ) -> web.Response:
        """Send the browser to the next page or to the client."""
        if isinstance(outcome, NextStep):
            query = {"request": outcome.parked_id} if outcome.parked_id else {}
            href = self.href(visitor, outcome.path, query)
            response = see_other(href)
        elif isinstance(outcome, FormPost):
            response = self.pages.form_post(request, outcome, ui_locales=ui_locales)
        else:
            response = see_other(outcome.location)
        self.pages.keep_language(request, response)
        return self.visits.mark(request, response, visitor) if visitor else response

    def go(self, visit: Visit, path: str, parked_id: str = "") -> web.Response:
        """Send the browser to another page."""
        return self.send(visit.request, NextStep(path, parked_id), visit.visitor, None)

    def go_to_login(self, visit: Visit, path: str, at: str = LOGIN.path) -> web.Response:
        """Send the browser to the login page, or to another page of the sign-in, which leads back to this path."""
        query = {} if path == ACCOUNT else {"return_to": path}
        response = see_other(self.href(visit.visitor, at, query))
        self.pages.keep_language(visit.request, response)
        return self.visits.mark(visit.request, response, visit.visitor)

    def show(
        self,
        visit: Visit,
        template: str,
        waiting: WaitingRequest | None = None,
        *,
        images: Iterable[str | None] = (),
        leads_away: bool = False,
        tenant: Tenant | None = None,
        context: Mapping[str, object],
    ) -> web.Response:
        """Render a page about the request that waits; its form may end at the client, and at another site if it `leads_away`.

        It looks as the tenant of the request, or of the user whose account it is about; `tenant` is for a request without one.
        """
        visitor, asked = visit.visitor, waiting and waiting.request
        client, tenant = (
            waiting and waiting.client_shown_to(visitor),
            tenant or self._tenant(visit, waiting),
        )
        look = self.pages.looks.find(tenant)
        logos = (client and client.logo_uri, look.logo_uri, *images)
        page = self.pages.render(
            visit.request,
            template,
            ui_locales=asked.ui_locales if asked else None,
            leads_away=leads_away or waiting is not None,
            img_src=[logo for logo in logos if logo],
            context={
                "csrf": csrf_token(visitor.browser),
                "parked_request": waiting.parked.id if waiting else "",
                "session_id": visitor.session.id if visitor.session else "",
                "fresh_login": visitor.fresh_login,
                "client": client,
                "stranger_at": waiting and waiting.reply_to.unverified_client_host,
                "stranger_is_local": waiting and waiting.reply_to.may_be_any_application,
                **look.context,
                **context,
            },
        )
        return self.visits.mark(visit.request, page, visitor)

    def _tenant(self, visit: Visit, waiting: WaitingRequest | None) -> Tenant | None:
        session, registry = visit.visitor.session, self.flow.registry.current
        if waiting is not None or session is None:
            return waiting.request.tenant if waiting else None
        name = registry.tenant_of(session.idp, visit.visitor.user_claims)
        return registry.tenants.get(name) if name else None
