"""/account/error: an error page for users who open the address themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aiohttp import web

from service.pages.error_page import ErrorPages
from service.protocol.errors import InvalidRequest

PATH = "/account/error"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEndpoint:
    errors: ErrorPages

    def routes(self) -> Iterable[web.RouteDef]:
        return (web.get(PATH, self.errors.around(self.page), allow_head=False),)

    async def page(self, _: web.Request) -> web.Response:
        raise InvalidRequest("no request waits here; go back to the application and try again")
