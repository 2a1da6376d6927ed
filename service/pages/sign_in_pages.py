"""What every page of a sign-in does: find the request that waits, check the form, go on."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

from aiohttp import web

from service.authorize.flow import AuthorizeFlow, NextStep, Outcome, Visitor
from service.authorize.parking import mark_in
from service.authorize.request import AuthorizeRequest
from service.http.parameters import form_params, query_params
from service.http.respond import see_other
from service.model.client import Client
from service.model.delivery import FormPost
from service.model.session import Answers, ParkedRequest, Session
from service.pages.csrf import ForgedRequest, check_csrf, csrf_token
from service.pages.dead_ends import FormExpired, SignInOver, WayOn, way_on
from service.pages.pages import Pages
from service.pages.visits import Visits
from service.protocol.errors import InvalidRequest, OAuthError
from service.protocol.params import Params

ACCOUNT = "/account"
"""Where a person goes who signs in without a client's request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An authorization request that waits for this visitor."""

    parked_id: str
    parked: ParkedRequest
    request: AuthorizeRequest

    def client_shown_to(self, visitor: Visitor) -> Client:
        """Return the client as the visitor may see it.

        Anybody can register a client and send people here for it by a link. To a person who is
        signed in already, the link alone shows no word of such a client, only its host (RFC 7591 §5).
        """
        client, unverified_client_host = self.request.client, self.request.unverified_client_host
        by_link_alone = visitor.session is not None and not self.parked.answers.authenticated
        return (
            client.under_host(unverified_client_host)
            if unverified_client_host and by_link_alone
            else client
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInPages:
    """The part that login, account selection, consent and provider pages share."""

    flow: AuthorizeFlow
    visits: Visits
    pages: Pages

    async def open(self, request: web.Request) -> tuple[Visitor, Params]:
        """The visitor and the parameters of a GET."""
        params = query_params(request)
        params.refuse_repeated()
        return await self.visits.visitor(request), params

    async def submitted(self, request: web.Request) -> tuple[Visitor, Params]:
        """The visitor and the parameters of a POST, which must be of a page of ours."""
        params = await form_params(request, repeatable=frozenset({"scope", "claim"}))
        try:
            check_csrf(self.visits.cookies.browser(request), params.get("csrf"))
        except ForgedRequest as error:
            raise FormExpired(
                error.description, way_on=self.way_on(params.get("request"))
            ) from error
        return await self.visits.visitor(request), params

    async def waiting(self, params: Params, visitor: Visitor) -> Waiting:
        """The request that the page is about; SignInOver where it waits no longer."""
        parked_id = params.get("request") or ""
        parked = await self.find_parked(params, visitor)
        sent = Params(parked.params)
        request = await self.flow.read(sent, await self.flow.reply_to(sent))
        return Waiting(parked_id=parked_id, parked=parked, request=request)

    def way_on(self, parked_id: str | None) -> WayOn:
        """Return where a person goes on whose request is no longer parked.

        Clients that registered themselves are never linked: anybody can make up such an id.
        """
        client = self.flow.registry.current.clients_by_mark.get(mark_in(parked_id or ""))
        return way_on(client, issuer=self.flow.issuer, account=self.pages.url(ACCOUNT))

    async def find_parked(
        self, params: Params, visitor: Visitor, *, arriving: bool = False
    ) -> ParkedRequest:
        """Return the parked request; one that is arriving becomes this browser's."""
        parking = self.flow.parking
        find = parking.find_or_bind if arriving else parking.find
        parked_id = params.get("request") or ""
        with self._explain_end(parked_id):
            return await find(parked_id, browser=visitor.browser)

    async def answered(self, waiting: Waiting, visitor: Visitor, answers: Answers) -> Outcome:
        """Note what the person said, and find what comes next."""
        parked = await self.flow.parking.answer(waiting.parked_id, waiting.parked, answers)
        with self._explain_end(waiting.parked_id):
            return await self.flow.resume(waiting.parked_id, parked, visitor)

    async def resumed(self, waiting: Waiting, visitor: Visitor) -> Outcome:
        """Find what comes next, though this page was not answered."""
        with self._explain_end(waiting.parked_id):
            return await self.flow.resume(waiting.parked_id, waiting.parked, visitor)

    async def refused(self, waiting: Waiting, visitor: Visitor, error: OAuthError) -> Outcome:
        """End the request at the client."""
        with self._explain_end(waiting.parked_id):
            return await self.flow.refuse(waiting.parked_id, waiting.parked, visitor, error)

    @contextmanager
    def _explain_end(self, parked_id: str) -> Generator[None]:
        """Turn the end of a parked request, such as another answer to it, into a page that leads on."""
        try:
            yield
        except InvalidRequest as error:
            raise SignInOver(error.description, way_on=self.way_on(parked_id)) from error

    def go_on(
        self,
        request: web.Request,
        outcome: Outcome,
        visitor: Visitor | None,
        ui_locales: str | None,
    ) -> web.Response:
        """Send the browser to the next page or to the client."""
        if isinstance(outcome, NextStep):
            query = urlencode({"request": outcome.parked_id})
            response = see_other(f"{self.pages.url(outcome.path)}?{query}")
        elif isinstance(outcome, FormPost):
            response = self.pages.form_post(
                request,
                redirect_uri=outcome.redirect_uri,
                fields=outcome.fields,
                ui_locales=ui_locales,
            )
        else:
            response = see_other(outcome.location)
        return self.visits.mark(request, response, visitor) if visitor else response

    def show(
        self,
        request: web.Request,
        template: str,
        visitor: Visitor,
        waiting: Waiting | None,
        *,
        images: Iterable[str | None] = (),
        context: Mapping[str, object],
    ) -> web.Response:
        """Render a page about the request that waits, whose form may lead to the client."""
        asked = waiting.request if waiting else None
        client, tenant = waiting and waiting.client_shown_to(visitor), asked and asked.tenant
        logos = (client and client.logo_uri, tenant and tenant.logo_uri, *images)
        page = self.pages.render(
            request,
            template,
            ui_locales=asked.ui_locales if asked else None,
            form_action=(asked.reply_to.redirect_uri, *self.pages.further) if asked else (),
            img_src=[logo for logo in logos if logo],
            context={
                "csrf": csrf_token(visitor.browser),
                "parked_request": waiting.parked_id if waiting else "",
                "session_id": visitor.session.id if visitor.session else "",
                "client": client,
                "stranger_at": asked and asked.unverified_client_host,
                "tenant": tenant,
                **context,
            },
        )
        return self.visits.mark(request, page, visitor)


def who_answers(visitor: Visitor, params: Params) -> Session | None:
    """The session that the form's page was shown to; None where another person signed in since."""
    session = visitor.session
    return session if session is not None and session.id == params.get("session_id") else None
