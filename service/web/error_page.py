"""Refusals that a person sees, because there is no trusted client to send them to (RFC 6749 §4.1.2.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog
from aiohttp import web

from service.model.events import AuthorizationRefused, Emit
from service.protocol.errors import OAuthError, ServerError
from service.web.errors import error_headers
from service.web.pages import Pages
from service.web.request_id import request_id

log = structlog.stdlib.get_logger(__name__)

PageHandler = Callable[[web.Request], Awaitable[web.Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorPages:
    """Turns what a handler raises into a page with the error's code, text and request id."""

    pages: Pages
    emit: Emit

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
                return self._page(request, error)
            except web.HTTPException:
                raise
            except Exception:
                log.exception("unforeseen error on a page")
                return self._page(request, ServerError("something unforeseen happened"))

        return guarded

    def _page(self, request: web.Request, error: OAuthError) -> web.Response:
        self.emit(AuthorizationRefused(client_id=None, error=error.code, cause=error.description))
        page = self.pages.render(
            request,
            "error.html",
            status=error.status,
            context={
                "error": error.code,
                "error_description": error.description,
                "request_id": request_id(),
            },
        )
        page.headers.update(error_headers(error))
        return page
