"""A webhook that keeps what comes, and answers what a test wants."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.driving.listening import listening

SECRET = "whsec_" + b64encode(b"a secret of twenty-four.").decode()
NEXT_SECRET = "whsec_" + b64encode(b"another secret, which comes after it").decode()


@dataclass(frozen=True)
class Received:
    """One request."""

    headers: Mapping[str, str]
    body: bytes
    path: str

    @property
    def event(self) -> dict[str, Any]:
        """The CloudEvent."""
        event: dict[str, Any] = json.loads(self.body)
        return event

    @property
    def id(self) -> str:
        """The id, by which a receiver knows a repetition."""
        return self.headers["webhook-id"]


@dataclass
class Receiver:
    """`answers` come first, each once, then `status`."""

    origin: str = ""
    status: int = 204
    answers: list[int] = field(default_factory=list)
    retry_after: str | None = None
    """A header of every answer."""
    received: list[Received] = field(default_factory=list)
    gigabytes: bool = False
    answering: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """Its URL, in which a part is secret."""
        return f"{self.origin}/hooks/very-secret-path"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Keep a request, and answer it."""
        self.received.append(Received(request.headers.copy(), await request.read(), request.path))
        await self.answering.wait()
        if self.gigabytes:
            return await self._answer_without_end(request)
        status = self.answers.pop(0) if self.answers else self.status
        headers = {"Location": f"{self.origin}/elsewhere"}
        if self.retry_after is not None:
            headers["Retry-After"] = self.retry_after
        return web.Response(status=status, headers=headers)

    async def _answer_without_end(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(bytes(1 << 20))

    async def events(self, count: int = 1, *, kind: str | None = None) -> list[dict[str, Any]]:
        """Return the events that have come, as soon as there are so many (of a kind)."""
        for _ in range(3000):
            found = [one.event for one in self.received if kind in (None, one.event["type"])]
            if len(found) >= count:
                return found
            await asyncio.sleep(0.02)
        raise AssertionError(f"{[one.event['type'] for one in self.received]} came")


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """A receiver that listens on a port of its own."""
    receiver = Receiver()
    receiver.answering.set()
    async with listening(receiver.answer) as receiver.origin:
        yield receiver
        receiver.answering.set()
