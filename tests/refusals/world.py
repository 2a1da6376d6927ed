"""The common part of the rows: a service that runs for all of them, a browser that has signed in, keys and certificates."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientSession, DummyCookieJar, web
from fakeredis import FakeServer

from service.app import create_app
from service.config.configuration import Configuration
from service.web.server.server import Runner
from tests.driving.authority import Certified
from tests.driving.browser import Browser
from tests.driving.client_app import PUBLIC, REDIRECT_URIS, ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.service import RunningService

USED = (b"}:dp", b"}:ja")
"""A right proof or assertion counts as used, whatever follows (RFC 9449 §11.1, RFC 7523 §3)."""
KEPT_ALIVE = (b"}:ss", b"}:su", b"}:us")
"""A session lives on when its browser comes."""


class App(ClientApp):
    """A client of the registry, or one like it."""

    @property
    def redirect_uri(self) -> str:
        """The client's only one."""
        return REDIRECT_URIS.get(self.client_id, f"https://{self.client_id}.example/callback")

    @property
    def is_public(self) -> bool:
        """Whether it has no secret."""
        return self.client_id.removeprefix("certified-") in PUBLIC


@dataclass(frozen=True, kw_only=True)
class World:
    """All that a request may need."""

    service: RunningService
    browser: Browser
    authority: Certified
    own: Certified
    """A certificate that a client has signed itself."""
    key: DpopKey
    stranger: DpopKey
    """The key of somebody else."""

    def app(self, client_id: str) -> App:
        """Return the client in the browser that has signed in."""
        return App(self.service, self.browser, client_id)

    def stored(self) -> dict[bytes, Any]:
        """Return everything in the embedded store, but uses of proofs and sessions."""
        database = _server_of(self.service).dbs[0]._dict  # noqa: SLF001
        return {
            key: (item.expireat, _copy(item.value))
            for key, item in database.items()
            if not key.endswith(USED + KEPT_ALIVE)
        }


def _server_of(service: RunningService) -> FakeServer:
    """Return the server that the clients of fakeredis with the same address share."""
    channel: Any = service.features.shared.kv._engine.channel  # noqa: SLF001
    server: FakeServer = channel._client.connection_pool.make_connection()._server  # noqa: SLF001
    return server


def _copy(value: Any) -> object:
    """Return bytes as they are, and the members of a sorted set."""
    return value if isinstance(value, bytes) else sorted(value.items())


@asynccontextmanager
async def serving(
    configuration: Configuration, listening: socket.socket
) -> AsyncIterator[RunningService]:
    """Run the service behind a socket."""
    events: list[object] = []
    made = create_app(configuration, events.append, environ={})
    runner = Runner(made.app, shutdown_timeout=1)
    await runner.setup()
    await web.SockSite(runner, listening).start()
    async with ClientSession(cookie_jar=DummyCookieJar()) as http:
        issuer = configuration.issuer
        yield RunningService(issuer=issuer, http=http, features=made.features, events=events)
    await runner.cleanup()
