"""GET /connect/checksession: the frame that tells clients whether a session has changed (OpenID Connect Session Management §3.2).

With it the frames of keycloak-js below /protocol/openid-connect, which also say whether cookies reach a frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from string import Template

import msgspec

from service.clients.directory import Clients
from service.protocol.path_aliases import LOGIN_STATUS, THIRD_PARTY_COOKIES
from service.web.endpoint import Answer, Direct, Fields, Message, empty_answer
from service.web.pages.looks import BUILT_IN
from service.web.pages.pages import frame
from service.web.parameters import query_params

PATH = "/connect/checksession"
INIT = f"{LOGIN_STATUS}/init"
_CONNECTS = "connect-src 'self'; "


class CheckSessionEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Any page may frame it; its script reads one cookie, which holds no secret."""

    cookie: str

    def routes(self) -> Iterable[Direct]:
        return (Direct("GET", PATH, self.frame),)

    def metadata(self) -> Mapping[str, object]:
        return {"check_session_iframe": PATH}

    async def frame(self, _: Message) -> Answer:
        return _frame("check_session.js", cookie=self.cookie)


class KeycloakFramesEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Any page may frame them; keycloak-js asks them by messages, as it is used to."""

    cookie: str
    """The name of the cookie that says which session it is to scripts, and holds no secret."""
    clients: Clients

    def routes(self) -> Iterable[Direct]:
        first, second = THIRD_PARTY_COOKIES
        return (
            Direct("GET", LOGIN_STATUS, self.login_status),
            Direct("GET", INIT, self.allow),
            Direct("GET", first, self.set_cookie),
            Direct("GET", second, self.find_cookie),
        )

    async def login_status(self, _: Message) -> Answer:
        return _frame("keycloak_session.js", _CONNECTS, cookie=self.cookie)

    async def allow(self, request: Message) -> Answer:
        """Answer 204 if a client has this origin, else 403: no other page learns whether a user is signed in."""
        params = query_params(request)
        client = await self.clients.find(params.get("client_id") or "")
        is_known = client is not None and client.enabled
        origins = client.allowed_cors_origins if client is not None and is_known else ()
        allowed = params.get("origin") in origins
        return empty_answer(204 if allowed else 403)

    async def set_cookie(self, _: Message) -> Answer:
        return _frame("keycloak_cookies.js", _CONNECTS, step="set")

    async def find_cookie(self, _: Message) -> Answer:
        return _frame("keycloak_cookies.js", _CONNECTS, step="find")


def _frame(file: str, directives: str = "", **values: str) -> Answer:
    return Answer(*_parts(file, directives, **values))


@cache
def _parts(file: str, directives: str, **values: str) -> tuple[Fields, bytes]:
    script = Template((BUILT_IN / file).read_text()).substitute(values)
    return frame(script, directives=directives)
