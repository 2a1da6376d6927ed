"""A consumption device: a client that asks for a user's authentication, and the user who answers elsewhere (CIBA Core §1)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from socket import create_server, socket
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from aiohttp import web

from tests.clients.signing import key_of
from tests.driving.browser import Browser, Page
from tests.driving.listening import serving
from tests.driving.service import Answer, RunningService

CIBA = "urn:openid:params:grant-type:ciba"
REQUESTS = "/account/requests"
NOTIFICATION_TOKEN = "a-token-of-the-client_0123456789"


def ciba_client(client_id: str, secrets: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """The entry of a client that may use CIBA."""
    return {
        "client_id": client_id,
        "client_name": "Till 7",
        "client_secrets": secrets,
        "allowed_grant_types": [CIBA, "refresh_token"],
        "allowed_scopes": ["openid", "profile", "email", "api1"],
        "allow_offline_access": True,
        **more,
    }


@dataclass
class Device:
    """A client that the user is not at; its secret is that of `web`."""

    service: RunningService
    client_id: str = "till"

    @property
    def auth(self) -> tuple[str, str]:
        """Its credentials."""
        return self.client_id, "web-secret"

    async def ask(self, **changes: str | list[str] | None) -> Answer:
        """POST /connect/ciba for alice, with some parameters changed or (None) left out."""
        usual: dict[str, Any] = {"scope": "openid api1", "login_hint": "alice"}
        return await self.service.post("/connect/ciba", auth=self.auth, **(usual | changes))

    async def begin(self, **changes: str | None) -> str:
        """The auth_req_id of a request that was accepted."""
        answer = await self.ask(**changes)
        assert answer.status == 200, answer.body
        return str(answer["auth_req_id"])

    async def poll(self, auth_req_id: str, **changes: Any) -> Answer:
        """Ask for the tokens."""
        form: dict[str, Any] = {"grant_type": CIBA, "auth_req_id": auth_req_id}
        return await self.service.post("/connect/token", auth=self.auth, **(form | changes))

    async def request_object(self, alg: str = "ES256", number: int = 0, **changes: Any) -> str:
        """A signed request (CIBA Core §7.1.1), with some claims changed or (None) left out."""
        now = int(time.time())
        usual = {
            "iss": self.client_id,
            "aud": self.service.issuer,
            "iat": now,
            "nbf": now,
            "exp": now + 60,
            "jti": uuid4().hex,
            "scope": "openid api1",
            "login_hint": "alice",
        }
        claims = {name: value for name, value in (usual | changes).items() if value is not None}
        return await key_of(alg, number).sign(claims, typ="JWT")


def ref_of(auth_req_id: str) -> str:
    """The name by which everybody else knows the request."""
    return auth_req_id[3:19]


async def open_request(browser: Browser, auth_req_id: str, username: str = "alice") -> Page:
    """Go to the page of a request, and sign in where that is asked for."""
    page = await browser.get(f"{REQUESTS}/{ref_of(auth_req_id)}")
    return await browser.log_in(page, username) if page.has("login") else page


async def answer(browser: Browser, auth_req_id: str, action: str = "allow") -> Page:
    """Allow or deny a request as alice."""
    page = await open_request(browser, auth_req_id)
    assert page.has(f"request-{action}"), page.text
    return await browser.submit(page, action=action)


@dataclass
class Listener:
    """Takes pings and notes; `answers` come first, each once, then `status`."""

    listening: socket = field(default_factory=lambda: create_server(("127.0.0.1", 0)))
    status: int = 204
    answers: list[int] = field(default_factory=list)
    content: tuple[bytes, Mapping[str, str]] = (b"", MappingProxyType({}))
    """The body of its answers, with more headers."""
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """The port that it listens at."""
        return f"http://localhost:{self.listening.getsockname()[1]}/told"

    async def take(self, request: web.Request) -> web.Response:
        """Keep what came."""
        self.bodies.append(await request.read())
        self.headers.append(dict(request.headers))
        self.arrived.set()
        status = self.answers.pop(0) if self.answers else self.status
        body, headers = self.content
        headers = {"Location": f"{self.url}/elsewhere", **headers}
        return web.Response(status=status, body=body, headers=headers)

    async def wait(self, count: int = 1, *, seconds: float = 60) -> list[bytes]:
        """The messages, as soon as there are so many."""
        async with asyncio.timeout(seconds):
            while len(self.bodies) < count:
                self.arrived.clear()
                await self.arrived.wait()
        return self.bodies

    async def ping(self) -> Any:
        """The first ping's content."""
        return json.loads((await self.wait())[0])


@asynccontextmanager
async def listener(bound: socket | None = None) -> AsyncIterator[Listener]:
    """One that listens there, or on a port of its own."""
    listening = Listener(bound) if bound else Listener()
    app = web.Application()
    app.add_routes([web.post("/told", listening.take), web.post("/told/elsewhere", listening.take)])
    async with serving(app, bound=listening.listening):
        yield listening
