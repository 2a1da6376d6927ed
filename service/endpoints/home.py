"""GET /: the way to a person's account; in development there is a page to try everything instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aiohttp import web

from service.http.answer import see_other
from service.pages.pages import Pages
from service.pages.sign_in_pages import ACCOUNT

PATH = "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeEndpoint:
    """Leads to the one page that is for people who come by themselves."""

    pages: Pages

    def routes(self) -> Iterable[web.RouteDef]:
        return (web.get(PATH, self.home),)

    async def home(self, _: web.Request) -> web.Response:
        """A redirect."""
        return see_other(self.pages.url(ACCOUNT))
