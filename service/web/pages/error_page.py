"""Shows refusals on a page, where no trusted client can get them (RFC 6749 §4.1.2.1)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable

import msgspec
import structlog
from aiohttp import web

from service.events.authorizations import AuthorizationRefused
from service.events.event import Emit
from service.model.client import Client, mark_in
from service.model.registry import LiveRegistry
from service.model.request_context import request_id
from service.protocol.errors import (
    InvalidRequest,
    OAuthError,
    RefusedValue,
    TooManyWrongCodes,
    unforeseen_error,
)
from service.protocol.paths import ACCOUNT
from service.web.endpoint import Answer, Direct, Handler, Message
from service.web.pages.pages import Pages

log = structlog.stdlib.get_logger(__name__)

PATH = "/account/error"


class WayOn(msgspec.Struct, frozen=True, kw_only=True):
    """A link for a user whose sign-in is over; without a client it leads to the user's account."""

    href: str
    client: Client | None = None
    starts_again: bool = False
    """Whether the link begins a new login at the client."""


class SignInOver(OAuthError, code="invalid_request"):
    """The authorization request is unknown, expired, answered, or another browser's."""

    def __init__(
        self, description: str, *, parked_id: str | None = None, leads_to: str | None = ACCOUNT
    ) -> None:
        super().__init__(description)
        self.parked_id = parked_id
        """The request, whose id names its client (docs/decisions/sign-in/expired-sign-in.md)."""
        self.leads_to = leads_to
        """The page of this service to go on at where no client is known; None for no link at all."""


class FormExpired(SignInOver, status=403):
    """The form is not from a page that this browser was shown, or the browser was closed meanwhile."""


class ErrorPages(msgspec.Struct, frozen=True, kw_only=True):
    """Turns what a handler raises into a page with the error's code, text and request id."""

    pages: Pages
    issuer: str
    registry: LiveRegistry
    emit: Emit
    find_accepted: Callable[[RefusedValue], Awaitable[tuple[str, ...]]] | None
    """Finds what would have been accepted; only in development: in production a page shows nothing of a request or a registration."""

    def routes(self) -> Iterable[Direct]:
        """Return the route of an error page for users who open its address themselves."""
        return (self.page(PATH, self._show_own_page),)

    def page(self, path: str, handler: Handler) -> Direct:
        """Return the route of GET; its errors are pages."""
        return Direct("GET", path, self._around(handler))

    def page_and_form(self, path: str, page: Handler, submit: Handler) -> tuple[Direct, ...]:
        """Return the routes of GET and POST; the errors of both are pages."""
        return self.page(path, page), Direct("POST", path, self._around(submit))

    def _around(self, handler: Handler) -> Handler:
        """Return the same handler, whose errors are pages."""

        async def handle(request: Message) -> Answer:
            try:
                return await handler(request)
            except OAuthError as error:
                return await self.show(request, error)
            except Exception:
                log.exception("unforeseen error on a page")
                return await self.show(request, unforeseen_error())

        return handle

    @web.middleware
    async def show_unknown_path(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Answer a browser that asks for an unknown path by a page; a program gets JSON."""
        refusal = request.match_info.http_exception
        is_browser = "text/html" in request.headers.get("Accept", "").lower()
        if isinstance(refusal, web.HTTPNotFound) and is_browser:
            context = {"own_query": "?"}
            page = self.pages.render(
                request, "not_found.html", status=refusal.status, context=context
            )
            return page.for_aiohttp()
        return await handler(request)

    async def _show_own_page(self, _: Message) -> Answer:
        raise InvalidRequest("no request waits here; go back to the application and try again")

    async def show(self, request: Message, error: OAuthError) -> Answer:
        """Answer with a page that says what went wrong."""
        refused = error.refused
        self.emit(AuthorizationRefused.by(error, refused.client_id))
        context: dict[str, object] = {
            "own_query": self.pages.own_query(request),
            "error": error.code,
            "error_description": error.description,
            "request_id": request_id() or "",
            "time": int(time.time()),
            "way_on": self._find_way_on(error) if isinstance(error, SignInOver) else None,
            "wrong_codes_wait": error.retry_after if isinstance(error, TooManyWrongCodes) else 0,
        }
        if self.find_accepted is not None and refused.parameter is not None:
            accepted = await self.find_accepted(refused)
            context |= {"refused": refused, "accepted": accepted}
        page = self.pages.render(request, "error.html", status=error.status, context=context)
        page.headers.update(error.headers)
        return page

    def _find_way_on(self, over: SignInOver) -> WayOn | None:
        """Return the best link for a user whose request is no longer parked: to the client, or to a page of this service.

        Dynamically registered clients are never linked: anybody can make up such an id.
        """
        if over.leads_to is None:
            return None
        client = self.registry.current.clients_by_mark.get(mark_in(over.parked_id or ""))
        if client and (start := client.find_start_uri(self.issuer)):
            return WayOn(href=start, client=client, starts_again=True)
        if client and client.client_uri:
            return WayOn(href=client.client_uri, client=client)
        return WayOn(href=self.pages.url(over.leads_to))
