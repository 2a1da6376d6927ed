"""Opens the pages of a sign-in and of the account, and sends the browser to the next one (ASVS 3.5)."""

from __future__ import annotations

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress

import msgspec
from msgspec.structs import replace

from service.authorize.flow import AuthorizeFlow, NextStep, Outcome, WaitingRequest
from service.authorize.interaction import Interaction, Step
from service.authorize.parking import Found
from service.authorize.visitors import Visitor, Visitors
from service.identity.sign_in import LIFETIME, SignIn
from service.model.registry import Registry
from service.model.session import Answers, Session
from service.model.tenant import Tenant
from service.protocol.authorization_request import SIGNED_OUT
from service.protocol.claims import find_text
from service.protocol.errors import InvalidRequest, OAuthError, TemporarilyUnavailable
from service.protocol.params import Params
from service.protocol.paths import ACCOUNT, LOGIN, REQUESTS, SECOND_FACTOR, SECURITY
from service.protocol.redirect_uri import FormPost, with_query
from service.web.endpoint import Answer, Message, see_other
from service.web.pages.cookies import Cookie, Cookies
from service.web.pages.display import shorten_name
from service.web.pages.error_page import ErrorPages, FormExpired, SignInOver
from service.web.pages.pages import Pages
from service.web.parameters import form_params, query_params
from service.web.proxy import ClientAddress

FRESH_LOGIN = "fresh_login"
"""The parameter by which a page shows that it follows a sign-in (docs/decisions/sign-in/fresh-login.md)."""

_RETURN_TO = re.compile(rf"{REQUESTS}(/[\w-]{{16}})?|{SECURITY}(/add(\?method=[a-z]+)?)?", re.ASCII)
"""The pages that may ask for a sign-in and be returned to."""


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """A browser's request to a page."""

    request: Message
    visitor: Visitor
    params: Params
    found: Found = (None, None)
    """The client's request that it names, as it is kept."""

    @property
    def form_session(self) -> Session | None:
        """The session that the form's page was shown to; None if another user has signed in since."""
        session = self.visitor.session
        return session if session and session.id == self.params.get("session_id") else None


Notice = Callable[[Visit, WaitingRequest | None], Answer]
"""A page between the end of a sign-in and where it leads."""


class Visits(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that the endpoints of all pages share."""

    flow: AuthorizeFlow
    cookies: Cookies
    client_address: ClientAddress
    pages: Pages
    errors: ErrorPages

    @property
    def visitors(self) -> Visitors:
        return self.flow.visitors

    @property
    def registry(self) -> Registry:
        """The registry in force."""
        return self.flow.registry.current

    async def open_page(self, request: Message, *, note_use: bool = True) -> Visit:
        """Read a GET."""
        params = query_params(request)
        params.refuse_repeated()
        return await self._visit(request, params, note_use=note_use)

    async def open_form(self, request: Message, *, note_use: bool = True) -> Visit:
        """Read a POST; raise FormExpired unless it is from a page that this browser was shown."""
        params = await form_params(request, repeatable=frozenset({"scope", "claim"}))
        self.check_form(request, params)
        return await self._visit(request, params, note_use=note_use)

    async def _visit(self, request: Message, params: Params, *, note_use: bool = True) -> Visit:
        parked_id, fresh_login = params.get("request") or "", params.get(FRESH_LOGIN) or ""
        visitor, found = await self.visitors.find(
            self.cookies.read(request),
            *(self.flow.parking.reads(parked_id) if parked_id else ()),
            fresh_login=fresh_login,
            note_use=note_use,
        )
        found = found or (None, None)
        return Visit(request=request, visitor=visitor, params=params, found=found)

    def check_form(
        self, request: Message, params: Params, *, leads_to: str | None = ACCOUNT
    ) -> None:
        """Raise FormExpired unless the form is from a page that this browser, which has a mark, was shown."""
        browser, given = self.cookies.get(request, Cookie.BROWSER), params.get("csrf") or ""
        if not browser or not hmac.compare_digest(csrf_token(browser).encode(), given.encode()):
            description = "the form is not from a page that this browser was shown"
            raise FormExpired(description, parked_id=params.get("request"), leads_to=leads_to)

    async def find_waiting(self, visit: Visit, parked_id: str | None) -> WaitingRequest | None:
        """Return the client's request; None if the visitor came without one."""
        return None if parked_id is None else await self._read_waiting(visit, parked_id)

    async def require_waiting(self, visit: Visit) -> WaitingRequest:
        """Return the request that the page is about; raise SignInOver if it is gone."""
        return await self._read_waiting(visit, visit.params.get("request") or "")

    async def _read_waiting(self, visit: Visit, parked_id: str) -> WaitingRequest:
        with explain_end(parked_id):
            parking, browser = self.flow.parking, visit.visitor.browser
            if parked_id == visit.params.get("request"):
                parked = parking.open(parked_id, visit.found, browser=browser)
            else:
                parked = await parking.find(parked_id, browser=browser)
        return await self.flow.read(parked)

    async def find_turn(
        self, step: Step, visit: Visit, waiting: WaitingRequest
    ) -> Interaction | None:
        """Return the request with its user; None if this is not to be asked now: a form may come late, or another user may have signed in since."""
        interaction, found = await self.flow.find_step(waiting, visit.visitor)
        return interaction if found is step else None

    async def advance(
        self,
        visit: Visit,
        waiting: WaitingRequest,
        answers: Answers | None = None,
        interaction: Interaction | None = None,
    ) -> Answer:
        """Send the browser with new answers to the next page or to the client; `interaction` is what `find_turn` has found."""
        with explain_end(waiting.parked.id):
            outcome = await self.flow.go_on(waiting, visit.visitor, answers, interaction)
        return self.send(visit.request, outcome, visit.visitor, waiting.request.ui_locales)

    async def refuse(self, visit: Visit, waiting: WaitingRequest, error: OAuthError) -> Answer:
        """End the request by an error at the client."""
        with explain_end(waiting.parked.id):
            outcome = await self.flow.refuse(waiting, visit.visitor, error)
        return self.send(visit.request, outcome, visit.visitor, waiting.request.ui_locales)

    async def continue_as(
        self,
        visit: Visit,
        waiting: WaitingRequest | None,
        sign_in: SignIn,
        *,
        notice: Notice | None = None,
    ) -> Answer:
        """Go on to a step that the sign-in lacks, or begin the session and go on to where it leads.

        A notice is shown first, as soon as there is a session; it links to where this leads.
        """
        request, parked_id = (waiting.request, waiting.parked.id) if waiting else (None, "")
        with explain_end(parked_id):
            visitor, missing = await self.visitors.sign_in(
                visit.visitor,
                sign_in,
                request,
                parked_id=parked_id,
                user_agent=visit.request.headers.get("User-Agent", ""),
                address=self.client_address.find(visit.request),
            )
        visit = replace(visit, visitor=visitor)
        if missing is not None:
            return self.lead_to(visit, waiting, missing.path)
        answers = Answers.after_sign_in(visitor.session) if visitor.session else None
        if notice is not None:
            if waiting is not None and answers is not None:
                waiting = waiting.with_answers(answers)
                with suppress(TemporarilyUnavailable):  # the notice is shown once, and matters more
                    await self.flow.parking.keep_answers(waiting.parked)
            answer = notice(visit, waiting)
        else:
            answer = await self._go_on_signed_in(visit, waiting, answers)
        if self.cookies.failed_sign_ins(visit.request):
            self.cookies.set_failed_sign_ins(answer, 0, max_age=0)
        return answer

    async def _go_on_signed_in(
        self, visit: Visit, waiting: WaitingRequest | None, answers: Answers | None
    ) -> Answer:
        """Go on; the browser gets its new session with an error as well, such as of a form that was posted twice at once."""
        try:
            return await self.go_on(visit, waiting, answers)
        except OAuthError as error:
            return self.mark(await self.errors.show(visit.request, error), visit.visitor)

    async def go_on(
        self, visit: Visit, waiting: WaitingRequest | None, answers: Answers | None = None
    ) -> Answer:
        """Send the browser to where it should be."""
        if waiting is not None:
            return await self.advance(visit, waiting, answers)
        path = return_path(visit.params)
        if visit.visitor.session is None:
            return self.go_to_login(visit, path)
        return self.go(visit, path)

    def lead_to(self, visit: Visit, waiting: WaitingRequest | None, path: str) -> Answer:
        """Send the browser to another page about the same sign-in."""
        if waiting is not None:
            return self.go(visit, path, waiting.parked.id)
        return self.go_to_login(visit, return_path(visit.params), path)

    def href(self, visitor: Visitor | None, path: str, query: Mapping[str, str]) -> str:
        """Return the link to a page; where factors are added or changed, it says that it follows a sign-in."""
        fresh_login = visitor.fresh_login if visitor else ""
        if fresh_login and path.startswith((SECURITY, SECOND_FACTOR)):
            query = {**query, FRESH_LOGIN: fresh_login}
        return with_query(self.pages.url(path), query) if query else self.pages.url(path)

    def send(
        self,
        request: Message,
        outcome: Outcome,
        visitor: Visitor | None,
        ui_locales: str | None,
    ) -> Answer:
        """Send the browser to the next page or to the client."""
        if isinstance(outcome, NextStep):
            query = {"request": outcome.parked_id} if outcome.parked_id else {}
            answer = see_other(self.href(visitor, outcome.path, query))
        elif isinstance(outcome, FormPost):
            answer = self.pages.form_post(request, outcome, ui_locales=ui_locales)
        else:
            answer = see_other(outcome.location)
        self.pages.keep_language(request, answer)
        return self.mark(answer, visitor) if visitor else answer

    def go(self, visit: Visit, path: str, parked_id: str = "") -> Answer:
        """Send the browser to another page."""
        return self.send(visit.request, NextStep(path, parked_id), visit.visitor, None)

    def go_to_login(self, visit: Visit, path: str, at: str = LOGIN) -> Answer:
        """Send the browser to the login page, or to another page of the sign-in, which leads back to this path."""
        query = {} if path == ACCOUNT else {"return_to": path}
        answer = see_other(self.href(visit.visitor, at, query))
        self.pages.keep_language(visit.request, answer)
        return self.mark(answer, visit.visitor)

    async def ask_for_session(self, visit: Visit, path: str) -> Answer:
        """Send the browser to the step without which the own account has no session; it leads back to this path."""
        session = visit.visitor.session
        if session is None:
            return self.go_to_login(visit, path)
        missing = await self.visitors.find_missing_step(SignIn.of_session(session), None)
        return self.go_to_login(visit, path, missing.path if missing else LOGIN)

    async def shown_user(self, visitor: Visitor) -> Mapping[str, object]:
        """Return the names by which a page shows the user that is signed in."""
        if visitor.session is None:
            return {"name": "", "username": ""}
        username = await self.visitors.subjects.find_username(visitor.session) or ""
        name = find_text(visitor.user_claims, "name") or username or visitor.session.subject
        return {"name": shorten_name(name), "username": shorten_name(username)}

    def mark(self, answer: Answer, visitor: Visitor) -> Answer:
        """Set the cookies that have changed: the browser's mark, its state, and a new session."""
        sent, session = visitor.sent, visitor.session
        lasts = session.ends_at - session.started_at if session and session.remember else None
        put = self.cookies.set
        if sent.browser != visitor.browser:
            put(answer, Cookie.BROWSER, visitor.browser, max_age=None)
        partial_id = visitor.partial.id if visitor.partial else ""
        if sent.partial_sign_in != partial_id:
            put(answer, Cookie.PARTIAL_SIGN_IN, partial_id, max_age=LIFETIME)
        if (sent.browser_state or SIGNED_OUT) != visitor.browser_state:
            state_lasts = lasts if session else 0
            put(answer, Cookie.BROWSER_STATE, visitor.browser_state, max_age=state_lasts)
        if visitor.new_cookie is not None:
            put(answer, Cookie.SESSION, visitor.new_cookie, max_age=lasts)
        return answer

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
    ) -> Answer:
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
        return self.mark(page, visitor)

    def _tenant(self, visit: Visit, waiting: WaitingRequest | None) -> Tenant | None:
        session, registry = visit.visitor.session, self.registry
        if waiting is not None or session is None:
            return waiting.request.users.tenant if waiting else None
        name = registry.tenancy.find_name(session.idp, visit.visitor.user_claims)
        return registry.tenants.get(name) if name else None


@contextmanager
def explain_end(parked_id: str | None) -> Generator[None]:
    """Turn the end of a parked request, such as another answer to it, into a page with a link."""
    try:
        yield
    except InvalidRequest as error:
        raise SignInOver(error.description, parked_id=parked_id) from error


def return_path(params: Params) -> str:
    """Return the page of this service that asked for the sign-in; the account if none did."""
    path = params.get("return_to") or ""
    return path if _RETURN_TO.fullmatch(path) else ACCOUNT


def csrf_token(browser: str) -> str:
    """Return the value for this browser's forms: derived, so that no replica has to remember it."""
    return urlsafe_b64encode(hmac.digest(browser.encode(), b"csrf", "sha256")).decode()
