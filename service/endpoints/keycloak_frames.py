"""The frames of keycloak-js below /protocol/openid-connect: whether the session has changed, and whether cookies reach a frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from string import Template

import msgspec
from aiohttp import web

from service.clients.directory import Clients
from service.protocol.path_aliases import LOGIN_STATUS, THIRD_PARTY_COOKIES
from service.web.endpoint import empty_answer
from service.web.pages.looks import BUILT_IN
from service.web.pages.pages import script_hash
from service.web.parameters import query_params

INIT = f"{LOGIN_STATUS}/init"
MAX_AGE = 3600


class KeycloakFramesEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Any page may frame them; keycloak-js asks them by messages, as it is used to."""

    cookie: str
    """The name of the cookie that says which session it is to scripts, and holds no secret."""
    clients: Clients

    def routes(self) -> Iterable[web.RouteDef]:
        first, second = THIRD_PARTY_COOKIES
        return (
            web.get(LOGIN_STATUS, self.login_status),
            web.get(INIT, self.allow),
            web.get(first, self.set_cookie),
            web.get(second, self.find_cookie),
        )

    async def login_status(self, _: web.Request) -> web.Response:
        return _frame("keycloak_session.js", cookie=self.cookie)

    async def allow(self, request: web.Request) -> web.Response:
        """Answer 204 if a client has this origin, else 403: no other page learns whether a user is signed in."""
        params = query_params(request)
        client = await self.clients.find(params.get("client_id") or "")
        is_known = client is not None and client.enabled
        origins = client.allowed_cors_origins if client is not None and is_known else ()
        allowed = params.get("origin") in origins
        return empty_answer(204 if allowed else 403).for_aiohttp()

    async def set_cookie(self, _: web.Request) -> web.Response:
        return _frame("keycloak_cookies.js", step="set")

    async def find_cookie(self, _: web.Request) -> web.Response:
        return _frame("keycloak_cookies.js", step="find")


def _frame(file: str, **values: str) -> web.Response:
    html, headers = _page(file, **values)
    return web.Response(text=html, content_type="text/html", headers=headers)


@cache
def _page(file: str, **values: str) -> tuple[str, Mapping[str, str]]:
    """Return a page and its headers, which are the same for every request."""
    script = Template((BUILT_IN / file).read_text()).substitute(values)
    html = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Session</title>'
        f"<script>{script}</script></html>"
    )
    policy = f"default-src 'none'; connect-src 'self'; script-src {script_hash(script)}"
    headers = {"Cache-Control": f"public, max-age={MAX_AGE}", "Content-Security-Policy": policy}
    return html, headers
