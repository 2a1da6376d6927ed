"""GET of paths that only lead elsewhere: / to the account, and /.well-known/change-password to the operator's page (W3C)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from aiohttp import web

from service.web.endpoint import see_other

HOME = "/"
CHANGE_PASSWORD = "/.well-known/change-password"


class RedirectEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    location: str | None
    """None for no such path."""

    def routes(self) -> Iterable[web.RouteDef]:
        return (web.get(self.path, self.redirect),) if self.location else ()

    async def redirect(self, _: web.Request) -> web.Response:
        return see_other(self.location or "")
