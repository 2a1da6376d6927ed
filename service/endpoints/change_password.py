"""GET /.well-known/change-password: where password managers send people (W3C, A Well-Known URL for Changing Passwords)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aiohttp import web

from service.http.answer import see_other

PATH = "/.well-known/change-password"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePasswordEndpoint:
    """Redirects to the page of `ui.links.forgot_password`; without that link there is no such path."""

    location: str | None

    def routes(self) -> Iterable[web.RouteDef]:
        return (web.get(PATH, self.redirect),) if self.location else ()

    async def redirect(self, _: web.Request) -> web.Response:
        """Redirect to the page."""
        return see_other(self.location or "")
