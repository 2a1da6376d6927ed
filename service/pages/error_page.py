"""Shows refusals on a page, where no trusted client can get them (RFC 6749 §4.1.2.1)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import structlog
from aiohttp import web

from service.authorize.accepted_values import AcceptedValues
from service.model.events import AuthorizationRefused, Emit, current_request_id
from service.pages.pages import Pages
from service.pages.sign_in_over import SignInOver
from service.protocol.errors import OAuthError, ServerError
from service.protocol.refused_value import RefusedValue

log = structlog.stdlib.get_logger(__name__)

PageHandler = Callable[[web.Request], Awaitable[web.Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorPages:
    """Turns what a handler raises into a page with the error's code, text and request id."""

    pages: Pages
    emit: Emit
    accepted: AcceptedValues | None
    """Only in development: in production a page shows nothing of a request or a registration."""

    def page_and_form(
        self, path: str, page: PageHandler, submit: PageHandler
    ) -> tuple[web.RouteDef, ...]:
        """GET and POST of one path; where either fails, the person sees a page."""
        return (
            web.get(path, self.around(page), allow_head=False),
            web.post(path, self.around(submit)),
        )

    def around(self, handler: PageHandler) -> PageHandler:
        """The same handler, whose errors are pages."""

        async def guarded(request: web.Request) -> web.Response:
            try:
                return await handler(request)
            except OAuthError as error:
                return await self._page(request, error)
            except web.HTTPException:
                raise
            except Exception:
                log.exception("unforeseen error on a page")
                return await self._page(request, ServerError("something unforeseen happened"))

        return guarded

    @web.middleware
    async def show_unknown_path(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Answer a browser that asks for an unknown path by a page; a program gets JSON."""
        refusal = request.match_info.http_exception
        if isinstance(refusal, web.HTTPNotFound) and _is_browser(request):
            return self.pages.render(request, "not_found.html", status=refusal.status, context={})
        return await handler(request)

    async def _page(self, request: web.Request, error: OAuthError) -> web.Response:
        refused = error.refused
        self.emit(
            AuthorizationRefused(
                client_id=refused.client_id,
                error=error.code,
                cause=error.description,
                parameter=refused.parameter,
                value=refused.shown,
            )
        )
        page = self.pages.render(
            request,
            "error.html",
            status=error.status,
            context={
                "error": error.code,
                "error_description": error.description,
                "request_id": current_request_id.get() or "",
                **await self._development(refused),
                "time": int(time.time()),
                "way_on": error.way_on if isinstance(error, SignInOver) else None,
            },
        )
        page.headers.update(error.headers)
        return page

    async def _development(self, refused: RefusedValue) -> Mapping[str, object]:
        """Return what the page shows to a developer: the value that was sent, and those that fit."""
        if self.accepted is None or refused.parameter is None:
            return {}
        return {"refused": refused, "accepted": await self.accepted.find(refused)}


def _is_browser(request: web.Request) -> bool:
    """Whether the caller names HTML, as every browser does when a person opens an address."""
    return "text/html" in request.headers.get("Accept", "").lower()
