"""Servers of others, to which this service sends requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from socket import socket
from ssl import SSLContext

from aiohttp import web


@asynccontextmanager
async def listening(
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    *,
    port: int = 0,
    tls: SSLContext | None = None,
) -> AsyncIterator[str]:
    """A server on loopback that answers every request by this, for as long as the block lasts; its origin."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    async with serving(app, port=port, tls=tls) as origin:
        yield origin


@asynccontextmanager
async def serving(
    app: web.Application,
    *,
    bound: socket | None = None,
    port: int = 0,
    tls: SSLContext | None = None,
) -> AsyncIterator[str]:
    """An application on loopback, at a socket or a port, for as long as the block lasts; its origin."""
    runner = web.AppRunner(app, shutdown_timeout=0.1)  # 0 waits without end
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls)
        await (site if bound is None else web.SockSite(runner, bound)).start()
        yield "{}://{}:{}".format("https" if tls else "http", *runner.addresses[0])
    finally:
        await runner.cleanup()
