"""An aiohttp application at an origin of this run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext
from urllib.parse import urlsplit

from aiohttp import web


@asynccontextmanager
async def listening(
    app: web.Application, origin: str, tls: SSLContext | None = None
) -> AsyncIterator[None]:
    """The application answers for as long as the block lasts."""
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", urlsplit(origin).port, ssl_context=tls).start()
    yield
    await runner.cleanup()
