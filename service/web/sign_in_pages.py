"""What every page of a sign-in does: find the request that waits, check the form, go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from aiohttp import web

from service.authorize.flow import AuthorizeFlow, NextStep, Outcome, Visitor
from service.authorize.request import AuthorizeRequest
from service.model.delivery import FormPost
from service.model.registry import Tenant
from service.model.session import Answers, ParkedRequest, Session
from service.protocol.errors import OAuthError
from service.protocol.params import Params
from service.web.csrf import check_csrf, csrf_token
from service.web.pages import Pages
from service.web.read import form_params, query_params
from service.web.respond import see_other
from service.web.visits import Visits


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An authorization request that waits for this visitor."""

    parked_id: str
    parked: ParkedRequest
    request: AuthorizeRequest
    tenant: Tenant | None


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
        check_csrf(self.visits.cookies.browser(request), params.get("csrf"))
        return await self.visits.visitor(request), params

    async def waiting(self, params: Params, visitor: Visitor) -> Waiting:
        """The request that the page is about; InvalidRequest where it waits no longer."""
        parked_id = params.get("request") or ""
        parked = await self.flow.parking.find(parked_id, browser=visitor.browser)
        sent = Params(parked.params)
        request = await self.flow.read(sent, await self.flow.reply_to(sent))
        tenant = self.flow.registry.current.tenants.get(request.tenant or "")
        return Waiting(parked_id=parked_id, parked=parked, request=request, tenant=tenant)

    async def answered(self, waiting: Waiting, visitor: Visitor, answers: Answers) -> Outcome:
        """Note what the person said, and find what comes next."""
        parked = await self.flow.parking.answer(waiting.parked_id, waiting.parked, answers)
        return await self.flow.resume(waiting.parked_id, parked, visitor)

    async def resumed(self, waiting: Waiting, visitor: Visitor) -> Outcome:
        """Find what comes next, though this page was not answered."""
        return await self.flow.resume(waiting.parked_id, waiting.parked, visitor)

    async def refused(self, waiting: Waiting, visitor: Visitor, error: OAuthError) -> Outcome:
        """End the request at the client."""
        return await self.flow.refuse(waiting.parked_id, waiting.parked, visitor, error)

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
        client, tenant = asked and asked.client, waiting and waiting.tenant
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
                "tenant": tenant,
                **context,
            },
        )
        return self.visits.mark(request, page, visitor)


def who_answers(visitor: Visitor, params: Params) -> Session | None:
    """The session that the form's page was shown to; None where another person signed in since."""
    session = visitor.session
    return session if session is not None and session.id == params.get("session_id") else None
