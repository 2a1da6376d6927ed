"""Opens the pages of the console and their forms, and turns refusals into pages (ASVS 3.5, 4.1)."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

import msgspec
import structlog
from aiohttp import web

from service.admin.console.operators import Operator, Operators
from service.admin.console.sign_in import (
    ConsoleSignIn,
    SignInRefused,
    SignInTooWeak,
    SignInUnknown,
)
from service.config.registry import CONSOLE_CLIENT
from service.events.admin import AdminRefused, AdminSignedIn, AdminSignedOut
from service.events.event import Emit
from service.model.authorization import Authorization
from service.model.registry import LiveRegistry
from service.model.request_context import caller as current_address
from service.model.request_context import request_id
from service.protocol.errors import InvalidRequest, OAuthError, unforeseen_error
from service.protocol.params import Params
from service.web.endpoint import Answer, Handler, Message, raw_path, raw_query, see_other
from service.web.pages.cookies import Cookie, Cookies
from service.web.pages.pages import Pages
from service.web.parameters import form_params, query_params
from service.web.visits import csrf_token

log = structlog.stdlib.get_logger(__name__)


class NotAllowed(OAuthError, code="access_denied", status=403):
    """The operator may not do this."""


class NotFound(OAuthError, code="not_found", status=404):
    """There is no such thing, or no longer."""


class FormExpired(InvalidRequest, status=403):
    """The form is not from a page that this operator was shown."""


class SignInTooOld(NotAllowed):
    """The sign-in is too long ago, or too weak, for a change."""


class SignInNeeded(Exception):
    """The browser has to sign in first, at the console or again."""

    def __init__(self, path: str, *, for_changes: bool = False) -> None:
        super().__init__(path)
        self.path, self.for_changes = path, for_changes


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """A request of an operator."""

    request: Message
    operator: Operator
    params: Params


class ConsoleVisits(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that all pages of the console share."""

    sign_in: ConsoleSignIn
    operators: Operators
    registry: LiveRegistry
    cookies: Cookies
    pages: Pages
    done_texts: Mapping[str, str]
    """The sentences about changes that have been made, by the names of the changes."""
    emit: Emit

    def set_up(self, app: web.Application) -> None:
        """Give the app its templates, and show a page for unknown paths."""
        self.pages.set_up(app)
        self.pages.compile("admin")
        app.middlewares.append(self._show_unknown_path)

    async def open_page(self, request: Message) -> Visit:
        """Read a GET; raise SignInNeeded where nobody is signed in."""
        params = query_params(request)
        params.refuse_repeated()
        operator = await self.operators.find(self.cookies.get(request, Cookie.SESSION))
        if operator is None:
            query = raw_query(request)
            raise SignInNeeded(raw_path(request) + (f"?{query}" if query else ""))
        return Visit(request=request, operator=operator, params=params)

    async def open_form(self, request: Message) -> Visit:
        """Read a POST; raise FormExpired unless it is from a page that this operator was shown."""
        params = await form_params(request)
        cookie = self.cookies.get(request, Cookie.SESSION)
        given = params.get("csrf") or ""
        if not cookie or not hmac.compare_digest(csrf_token(cookie).encode(), given.encode()):
            raise FormExpired("the form is not from a page that this browser was shown")
        operator = await self.operators.find(cookie)
        if operator is None:
            raise FormExpired("the session has ended")
        return Visit(request=request, operator=operator, params=params)

    def read_answer(self, request: Message) -> Params:
        """Return the parameters of an authorization response."""
        params = query_params(request)
        params.refuse_repeated()
        params.refuse_too_long()
        return params

    async def begin(self, request: Message, person: Authorization) -> str:
        """Begin a session after a sign-in, and return its cookie; SignInRefused if the user has no access."""
        operator = await self.operators.judge(person)
        if operator is None:
            raise SignInRefused("neither admin.readers nor admin.writers include this user")
        previous = self.cookies.get(request, Cookie.SESSION)
        cookie = await self.operators.begin(person, instead_of=previous)
        self.emit(
            AdminSignedIn(
                subject=operator.subject,
                session_id=person.session_id,
                amr=person.amr,
                writes=operator.may_write,
                address=current_address(),
            )
        )
        return cookie

    async def end(self, visit: Visit) -> None:
        """End the operator's session, and the user's own."""
        operator = visit.operator
        await self.operators.end(operator)
        self.emit(
            AdminSignedOut(
                subject=operator.subject,
                session_id=operator.session_id,
                address=current_address(),
            )
        )

    def check_may_write(self, visit: Visit, *, path: str) -> None:
        """Raise NotAllowed for a reader, and SignInNeeded where the sign-in is too old or too weak."""
        operator, registry = visit.operator, self.registry.current
        if not operator.may_write:
            raise NotAllowed("only users whom admin.writers includes may change something")
        required = registry.admin.required_acr if registry.admin else None
        person = operator.person
        is_met = required is None or registry.acr_met(person.amr, (required,), acr=person.acr)
        if not operator.is_fresh or not is_met:
            raise SignInNeeded(path, for_changes=True)

    def go(self, path: str) -> Answer:
        """Send the browser to a page of the console."""
        return see_other(self.pages.url(path))

    def go_to_sign_in(self, request: Message, path: str, *, for_changes: bool = False) -> Answer:
        """Send the browser to the login page of this service, with a mark by which it is known when it returns."""
        browser = self.cookies.get(request, Cookie.BROWSER)
        new = "" if browser else secrets.token_urlsafe(32)
        location = self.sign_in.begin(browser or new, path, for_changes=for_changes)
        response = see_other(location)
        if new:
            self.cookies.set(response, Cookie.BROWSER, new, max_age=None)
        return response

    def show(self, visit: Visit, template: str, context: Mapping[str, object]) -> Answer:
        """Answer with a page for the operator."""
        operator = visit.operator
        shared = {
            "operator": operator,
            "csrf": csrf_token(operator.cookie),
            "done": self.done_texts.get(visit.params.get("done") or ""),
        }
        return self._render(visit.request, template, {**shared, **context}, status=200)

    def show_message(
        self, request: Message, context: Mapping[str, object], *, status: int
    ) -> Answer:
        """Answer with a page that needs no session."""
        return self._render(request, "message", context, status=status)

    def _render(
        self, request: Message, template: str, context: Mapping[str, object], *, status: int
    ) -> Answer:
        return self.pages.render(
            request,
            f"admin/{template}.html",
            status=status,
            context={"operator": None, **context},
        )

    def around(self, handler: Handler) -> Handler:
        """Return the same handler, whose refusals are audited and become pages."""

        async def answer(request: Message) -> Answer:
            try:
                return await handler(request)
            except SignInNeeded as needed:
                return await self._send_to_sign_in(request, needed)
            except OAuthError as error:
                return await self._refuse(request, error)
            except Exception:
                log.exception("unforeseen error on a page")
                return await self._refuse(request, unforeseen_error())

        return answer

    @web.middleware
    async def _show_unknown_path(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Answer a browser that asks for an unknown path by a page; a program gets JSON."""
        is_browser = "text/html" in request.headers.get("Accept", "").lower()
        if is_browser and isinstance(request.match_info.http_exception, web.HTTPNotFound):
            page = await self._refuse(request, NotFound("the console has no such page"))
            return page.for_aiohttp()
        return await handler(request)

    async def _send_to_sign_in(self, request: Message, needed: SignInNeeded) -> Answer:
        """Send the browser there after a GET; a form gets a link, as `form-action` holds for all redirects after it."""
        try:
            if request.method != "POST":
                return self.go_to_sign_in(request, needed.path, for_changes=needed.for_changes)
        except SignInRefused as error:
            return await self._refuse(request, error)
        refusal = SignInTooOld("a change needs a sign-in of the last five minutes")
        return await self._refuse(request, refusal, continue_href=self.pages.url(needed.path))

    async def _refuse(
        self, request: Message, error: OAuthError, *, continue_href: str = ""
    ) -> Answer:
        operator = None
        if error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            operator = await self._find_operator(request)
            self._audit(request, error, operator)
        continue_label = ""
        if isinstance(error, SignInTooWeak):
            continue_href, continue_label = self.sign_in.security, "Add a factor"
        elif isinstance(error, (FormExpired, SignInRefused, SignInUnknown)):
            continue_href = self.pages.url("/")
        context = {
            "heading": _HEADINGS.get(type(error), "This didn’t work"),
            "error": error.code,
            "error_description": error.description,
            "request_id": request_id() or "",
            "continue_href": continue_href,
            "continue_label": continue_label,
            "operator": operator,
            "csrf": csrf_token(operator.cookie) if operator else "",
        }
        page = self.show_message(request, context, status=error.status)
        page.headers.update(error.headers)
        return page

    async def _find_operator(self, request: Message) -> Operator | None:
        try:
            return await self.operators.find(self.cookies.get(request, Cookie.SESSION))
        except OAuthError:
            return None  # such as a store that is unavailable

    def _audit(self, request: Message, error: OAuthError, operator: Operator | None) -> None:
        """Note what was refused; that there is no such page refuses nobody."""
        if isinstance(error, NotFound):
            return
        self.emit(
            AdminRefused(
                method=request.method,
                endpoint=raw_path(request),
                error=error.code,
                cause=error.description,
                client_id=CONSOLE_CLIENT,
                subject=operator.subject if operator else None,
                address=current_address(),
            )
        )


_HEADINGS: Mapping[type[OAuthError], str] = {
    NotAllowed: "You may not do this",
    NotFound: "Not found",
    FormExpired: "This form has expired",
    SignInTooOld: "Please sign in again",
    SignInUnknown: "This sign-in has expired",
    SignInRefused: "You could not be signed in",
    SignInTooWeak: "Your sign-in is not strong enough",
}
