"""How are connections served, and what is said to a caller whose bytes are no HTTP request?"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from socket import socket
from ssl import SSLContext
from typing import cast

import structlog
from aiohttp import web
from aiohttp.http import RawRequestMessage
from aiohttp.web_protocol import RequestHandler

from service.web.accept_queue import BACKLOG, AcceptQueue
from service.web.gate import Handler
from service.web.head_limit import MAX_HEAD_BYTES
from service.web.lane import Lane
from service.web.request_id import HEADER, new_request_id
from service.web.traced_gate import GATE
from service.web.whole_requests import LARGEST

log = structlog.stdlib.get_logger(__name__)

_ON_ITS_WAY = 0.1
"""Seconds in which a request arrives that was sent before its caller could know of the end."""

_IDLE_SECONDS = 75
"""How long a connection may stay without a request; longer than a balancer's own 60 s, so that it never races us."""


class Runner(web.AppRunner):
    """Runs an application behind connections that echo nothing."""

    def __init__(self, app: web.Application, *, shutdown_timeout: float = 20) -> None:
        super().__init__(app, shutdown_timeout=shutdown_timeout, access_log=None)
        self._queues: list[AcceptQueue] = []
        self._running = 0
        self._lane: Lane | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    async def listen(self, listening: socket, tls: SSLContext | None) -> None:
        """Serve whoever connects there."""
        self._queues.append(AcceptQueue(listening, tls))
        await web.SockSite(self, listening, ssl_context=tls, backlog=BACKLOG).start()

    async def finish(self) -> None:
        """Take the last connections, and wait until no request runs; aiohttp itself drops what is still being sent."""
        for site in self.sites:
            await site.stop()
        for queue in self._queues:
            await queue.serve_rest(cast("_Server", self.server))
        await asyncio.sleep(_ON_ITS_WAY)
        await self._idle.wait()
        if self._lane is not None:
            await self._lane.quiet()

    async def cut_off(self) -> None:
        """Wait for nobody, and clean up."""
        self._shutdown_timeout = 0
        await self.cleanup()

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        gate, route = self.app[GATE], cast("Handler", made.request_handler)

        async def routed(request: web.BaseRequest) -> web.StreamResponse:
            self._begin()
            try:
                return await gate.answer(cast("web.Request", request), route)
            finally:
                self._end()

        server = _Server(routed, request_factory=made.request_factory)
        self._lane = server.lane = Lane(
            served=gate.direct,
            answer=gate.answer_whole,
            always=gate.security_headers.always,
            otherwise=server.routed,
            idle_seconds=_IDLE_SECONDS,
            largest=min(LARGEST, gate.max_body_bytes),
        )
        return server

    def _begin(self) -> None:
        self._running += 1
        self._idle.clear()

    def _end(self) -> None:
        self._running -= 1
        if not self._running:
            self._idle.set()


class _Server(web.Server):
    lane: Lane

    def __call__(self) -> asyncio.Protocol:  # type: ignore[override]
        return self.lane.connection()

    def pre_shutdown(self) -> None:
        """Let every connection know that it is to end."""
        self.lane.begin_to_close()
        super().pre_shutdown()

    async def shutdown(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - aiohttp's own
        """End every connection, after `timeout` seconds also where something runs on it."""
        await self.lane.closed(timeout)
        await super().shutdown(timeout)

    def routed(self) -> RequestHandler:
        """A connection whose requests aiohttp reads and routes."""
        return _Connection(
            self,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=_IDLE_SECONDS,
            access_log=None,  # type: ignore[arg-type] # None is how aiohttp itself turns it off
            max_line_size=MAX_HEAD_BYTES,
            max_field_size=MAX_HEAD_BYTES,
            auto_decompress=False,  # no caller needs it, and it lets few bytes become many
        )


class _Connection(RequestHandler):
    __slots__ = ()

    def data_received(self, data: bytes) -> None:
        """Tell who waits for a body when it turns out to be nonsense; aiohttp lets them wait."""
        super().data_received(data)
        request = self._current_request
        if request is None or request.content.is_eof() or not self._messages:
            return
        if not isinstance(self._messages[-1][0], RawRequestMessage):
            request.content.set_exception(web.RequestPayloadError("malformed body"))

    def log_exception(self, *args: object, **details: object) -> None:
        """Log faults of ours; a body that ends in nonsense after its answer is the caller's."""
        if not isinstance(details.get("exc_info"), web.RequestPayloadError):
            super().log_exception(*args, **details)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer with nothing that the caller sent: aiohttp's own answer and log line quote it."""
        identifier = new_request_id()
        if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            text = "bad request"
            log.info(text, status=status, request_id=identifier, kind=type(exc).__name__)
        else:
            text = "internal server error"
            log.error(text, status=status, request_id=identifier, exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("the answer has begun and cannot become another one")
        answer = web.Response(
            status=status,
            text=text,
            headers={
                HEADER: identifier,
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
                "Server": "token-service",  # or aiohttp names its version
            },
        )
        answer.force_close()
        return answer
