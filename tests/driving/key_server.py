"""A server that publishes the keys of a client or an API, and counts the requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from service.keys.jose import Key
from tests.driving.listening import listening


@dataclass
class KeyServer:
    """Publishes the keys of a test, and counts the requests."""

    url: str = ""
    answer: Any = None
    status: int = 200
    asked: list[str] = field(default_factory=list)

    def publish(self, *keys: Key | Mapping[str, Any]) -> None:
        """Show these keys from now on."""
        self.answer = {
            "keys": [key.public_jwk if isinstance(key, Key) else dict(key) for key in keys]
        }

    async def serve(self, request: web.Request) -> web.Response:
        """The JWK set."""
        self.asked.append(request.path)
        return web.json_response(self.answer, status=self.status)


@asynccontextmanager
async def publishing() -> AsyncIterator[KeyServer]:
    """A server on loopback, for as long as the block lasts."""
    server = KeyServer()
    async with listening(server.serve) as origin:
        server.url = f"{origin}/jwks"
        yield server
