"""Serves an application: listens, gives each connection its protocol, and ends all of them."""

from __future__ import annotations

import asyncio
import socket as sockets
import sys
from socket import socket
from ssl import SSLContext
from typing import cast

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from service.http.admission import MAX_HEAD_BYTES, readable
from service.http.gate import GATE, Handler
from service.server.accept_queue import BACKLOG, AcceptQueue
from service.server.connections import CONNECTIONS, WRITE_SECONDS
from service.server.fast_lane import Lane
from service.server.routed_connection import RoutedConnection
from service.server.tls import TlsAcceptor
from service.server.whole_requests import LARGEST

_AT_ONCE = 0.1
"""Seconds that aiohttp waits for requests before it cancels them; it takes 0 for no limit."""

_ON_ITS_WAY = 0.1
"""Seconds in which a request arrives that was sent before its caller could know of the end."""

_IDLE_SECONDS = 75
"""How long a connection may stay without a request; load balancers close it before, after 60 s, so that no request is lost."""


class Runner(web.AppRunner):
    """Runs an application behind connections that echo nothing."""

    def __init__(self, app: web.Application, *, shutdown_timeout: float = 20) -> None:
        super().__init__(app, shutdown_timeout=shutdown_timeout, access_log=None)
        self._queues: list[AcceptQueue] = []
        self._acceptors: list[TlsAcceptor] = []
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def listen(self, listening: socket, tls: SSLContext | None) -> None:
        """Serve the connections of this socket."""
        if sys.platform == "linux" and listening.family in {sockets.AF_INET, sockets.AF_INET6}:
            # The system ends connections whose clients read nothing, where only its own buffers are full.
            limit = WRITE_SECONDS * 1000
            listening.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_USER_TIMEOUT, limit)
        self._queues.append(AcceptQueue(listening, tls))
        if tls is None:
            await web.SockSite(self, listening, backlog=BACKLOG).start()
        else:
            listening.listen(BACKLOG)
            lane = self._lane
            self._acceptors.append(TlsAcceptor(listening, tls, lane.connection, lane.accepted))

    @property
    def _lane(self) -> Lane:
        return cast("_Server", self.server).lane

    def begin_to_drain(self) -> None:
        """Drop clients that do not read their answers, so that they do not delay the end."""
        self.app[CONNECTIONS].begin_to_drain()

    async def finish(self) -> None:
        """Take the last connections, and wait until no request runs; aiohttp itself drops what is still being sent."""
        for site in self.sites:
            await site.stop()
        for acceptor in self._acceptors:
            await acceptor.stop()
        for queue in self._queues:
            await queue.serve_rest(self._lane.connection)
        await asyncio.sleep(_ON_ITS_WAY)
        await self._idle.wait()
        await self._lane.wait_until_quiet()

    async def cut_off(self) -> None:
        """Cancel the requests that still run, and clean up."""
        self._shutdown_timeout = _AT_ONCE
        await self.cleanup()

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        gate, route = self.app[GATE], cast("Handler", made.request_handler)

        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            self._running += 1
            self._idle.clear()
            try:
                return await gate.answer(cast("web.Request", request), route)
            finally:
                self._running -= 1
                if not self._running:
                    self._idle.set()

        server = _Server(answer, request_factory=readable(made.request_factory))
        server.lane = Lane(
            served=gate.direct,
            answer=gate.answer_whole,
            always=gate.security_headers.always.wire,
            otherwise=server.routed_connection,
            idle_seconds=_IDLE_SECONDS,
            accepted=self.app[CONNECTIONS],
            largest=min(LARGEST, gate.max_body_bytes),
        )
        return server


class _Server(web.Server):
    lane: Lane

    def __call__(self) -> asyncio.Protocol:  # type: ignore[override]
        return self.lane.connection()

    def pre_shutdown(self) -> None:
        self.lane.begin_to_close()
        super().pre_shutdown()

    async def shutdown(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - aiohttp's own
        """End every connection, after `timeout` seconds also where something runs on it."""
        await self.lane.close(timeout)
        await super().shutdown(timeout)

    def routed_connection(self) -> RequestHandler:
        """Return a protocol for a connection whose requests aiohttp reads and routes."""
        return RoutedConnection(
            self,
            self.lane.accepted,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=_IDLE_SECONDS,
            access_log=None,
            max_line_size=MAX_HEAD_BYTES,
            max_field_size=MAX_HEAD_BYTES,
            auto_decompress=False,  # no caller needs it, and it lets few bytes become many
        )
