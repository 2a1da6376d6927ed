"""A client that gets logout tokens: it keeps what comes, and answers what a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from socket import create_server, socket
from types import MappingProxyType
from typing import Any

from aiohttp import web

from tests.driving.listening import serving
from tests.driving.service import claims_in


@dataclass
class RelyingParty:
    """Listens; `answers` come first, each once, then `status`."""

    listening: socket = field(default_factory=lambda: create_server(("127.0.0.1", 0)))
    status: int = 200
    answers: list[int] = field(default_factory=list)
    content: tuple[bytes, Mapping[str, str]] = (b"", MappingProxyType({}))
    """The body of its answers, with more headers."""
    tokens: list[str] = field(default_factory=list)
    requests: list[web.Request] = field(default_factory=list)
    forms: list[dict[str, Any]] = field(default_factory=list)
    answering: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    at_once: int = 0
    most_at_once: int = 0

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://localhost:{self.listening.getsockname()[1]}"

    @property
    def backchannel_logout_uri(self) -> str:
        """Its back-channel logout URI."""
        return f"{self.url}/backchannel"

    async def logged_out(self, request: web.Request) -> web.Response:
        """Take a logout token."""
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        form = dict(await request.post())
        self.requests.append(request)
        self.forms.append(form)
        self.tokens.append(str(form["logout_token"]))
        self.arrived.set()
        await self.answering.wait()
        self.at_once -= 1
        status = self.answers.pop(0) if self.answers else self.status
        body, headers = self.content
        headers = {"Location": f"{self.url}/elsewhere", **headers}
        return web.Response(status=status, body=body, headers=headers)

    async def claims(self, count: int = 1, *, seconds: float = 120) -> list[dict[str, Any]]:
        """The claims of the tokens that have come, as soon as there are so many."""
        async with asyncio.timeout(seconds):
            while len(self.tokens) < count:
                self.arrived.clear()
                await self.arrived.wait()
        return [claims_in(token) for token in self.tokens]

    def hang(self) -> None:
        """Take requests and answer none."""
        self.answering.clear()


@asynccontextmanager
async def relying_party(listening: socket | None = None) -> AsyncIterator[RelyingParty]:
    """One that listens there, or on a port of its own."""
    party = RelyingParty(listening) if listening else RelyingParty()
    party.answering.set()
    app = web.Application()
    app.add_routes([web.post("/backchannel", party.logged_out)])
    async with serving(app, bound=party.listening):
        yield party
        party.answering.set()
