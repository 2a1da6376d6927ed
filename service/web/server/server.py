"""Serves an application: listens, gives each connection its protocol, and ends all of them."""

from __future__ import annotations

import asyncio
import socket as sockets
import sys
from http import HTTPStatus
from socket import socket
from typing import cast

import structlog
from aiohttp import StreamReader, web
from aiohttp.http import RawRequestMessage
from aiohttp.web_protocol import RequestHandler

from service.web.admission import MAX_HEAD_BYTES, readable
from service.web.gate import GATE, REQUEST_ID, Handler, answer_by_status, new_request_id
from service.web.server.accepting import BACKLOG, AcceptQueue, ServerTls, TlsAcceptor
from service.web.server.connections import (
    CONNECTIONS,
    WRITE_SECONDS,
    Connections,
    bound_buffers,
    peer_address,
    send_answers_in_turn,
    survives_half_close,
)
from service.web.server.fast_lane import Lane
from service.web.server.whole_requests import LARGEST

_AT_ONCE = 0.1
"""Seconds that aiohttp waits for requests before it cancels them; it takes 0 for no limit."""

_ON_ITS_WAY = 0.1
"""Seconds in which a request arrives that was sent before its caller could know of the end."""

_IDLE_SECONDS = 75
"""How long a connection may stay without a request; load balancers close it before, after 60 s, so that no request is lost."""

_REQUEST_LINE_BYTES = 100
"""The method, the version and separators, which the limit of a head does not count."""

log = structlog.stdlib.get_logger(__name__)


class Runner(web.AppRunner):
    """Runs an application behind connections that echo nothing."""

    def __init__(self, app: web.Application, *, shutdown_timeout: float = 20) -> None:
        super().__init__(app, shutdown_timeout=shutdown_timeout, access_log=None)
        self._queues: list[AcceptQueue] = []
        self._acceptors: list[TlsAcceptor] = []
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def listen(self, listening: socket, tls: ServerTls | None) -> None:
        """Serve the connections of this socket."""
        if sys.platform == "linux" and listening.family in {sockets.AF_INET, sockets.AF_INET6}:
            # The system ends connections whose clients read nothing, where only its own buffers are full.
            limit = WRITE_SECONDS * 1000
            listening.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_USER_TIMEOUT, limit)
        bound_buffers(listening)
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

    async def cleanup(self) -> None:
        """Close everything, queues too, if they were not served to their end."""
        for queue in self._queues:
            queue.close()
        await super().cleanup()

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

        server = _Server(answer, request_factory=readable(made.request_factory, gate.mount))
        server.lane = Lane(
            served=gate.direct,
            mount=gate.mount,
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
        return _RoutedConnection(self, self.lane.accepted)


class _RoutedConnection(RequestHandler):
    """A connection whose requests aiohttp reads, within the limits of all connections; nothing sent is echoed."""

    __slots__ = (
        *("_accepted", "_connections", "_has_ended", "_newest_body", "_received_at", "_unfinished"),
        "peer",
    )

    def __init__(self, server: web.Server, connections: Connections) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=_IDLE_SECONDS,
            access_log=None,  # type: ignore[arg-type] # it writes none
            max_line_size=MAX_HEAD_BYTES,
            max_field_size=MAX_HEAD_BYTES,
            auto_decompress=False,  # no caller needs it, and it lets few bytes become many
        )
        self._connections = connections
        self._accepted: asyncio.Transport | None = None
        self._newest_body: StreamReader | None = None
        self._unfinished = 0
        self._has_ended = False
        self._received_at = self._loop.time()
        self.peer: str | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._accepted = cast("asyncio.Transport", transport)
        self.peer = peer_address(transport)
        super().connection_made(transport)
        send_answers_in_turn(transport)
        self._connections.add(self, transport.get_extra_info("socket"))

    def connection_lost(self, exc: BaseException | None) -> None:
        self._accepted = None
        super().connection_lost(exc)
        self._connections.remove(self)

    @property
    def idle_since(self) -> float | None:
        if self._is_at_work():
            return None
        return max(self._received_at, self._next_keepalive_close_time - self.keepalive_timeout)

    def _is_at_work(self) -> bool:
        """Return whether a request is here as a whole, and the client reads the answers."""
        return not self.unsent_bytes and self._has_whole_request()

    def _has_whole_request(self) -> bool:
        if self._messages:
            return True
        # aiohttp takes a message a turn of the loop before it has a request, and waits once that has its answer.
        is_waiting = self._waiter is not None and not self._waiter.done()
        return not is_waiting and self._newest_body is not None and self._newest_body.is_eof()

    @property
    def unsent_bytes(self) -> int:
        return 0 if self._accepted is None else self._accepted.get_write_buffer_size()

    def abort(self) -> None:
        """Close the connection without sending anything more."""
        if self._accepted is not None:
            self._accepted.abort()

    def data_received(self, data: bytes) -> None:
        """Bound an unfinished head, and report a malformed body to its reader, which aiohttp lets wait."""
        self._received_at = self._loop.time()
        super().data_received(data)
        if self._messages:
            self._newest_body = self._messages[-1][1]
            self._unfinished = 0
            self._connections.finish_head(self)
        elif self._waiter is not None or self._request_count == 0:
            self._bound_head(len(data))
        request = self._current_request
        if request is None or request.content.is_eof() or not self._messages:
            return
        if not isinstance(self._messages[-1][0], RawRequestMessage):
            request.content.set_exception(web.RequestPayloadError("malformed body"))

    def eof_received(self) -> bool:  # type: ignore[override] # aiohttp's own closes at once
        """Send the answers first where the client has ended its side behind its requests (RFC 9112 §9.6)."""
        is_awaited = self._has_whole_request() and survives_half_close(self.transport)
        self._has_ended = True
        self._close_behind_last()
        return is_awaited

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send an answer, the last one to a client that sends no more requests."""
        self._close_behind_last()
        return await super().finish_response(request, resp, start_time)

    def _close_behind_last(self) -> None:
        if self._has_ended and not self._messages:
            self.close()  # once what is being answered has its answer

    def _bound_head(self, size: int) -> None:
        """Refuse a head that is too large before it is complete; aiohttp's parser limits each field, and not their sum."""
        self._connections.begin_head(self)
        self._unfinished += size
        if self._unfinished > MAX_HEAD_BYTES + _REQUEST_LINE_BYTES and self.transport is not None:
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE  # RFC 6585 §5
            answer = answer_by_status(status)
            fields = {
                **answer.fields.headers,
                "Content-Length": str(len(answer.body)),
                **_headers(),
            }
            lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            head = f"HTTP/1.1 {status.value} {status.phrase}\r\n{lines}Connection: close\r\n\r\n"
            self.transport.write(head.encode() + answer.body)
            self.force_close()

    def log_exception(self, *args: object, **details: object) -> None:
        """Log faults of this service; a malformed body after its answer is a fault of the client."""
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
        headers = _headers()
        identifier = headers[REQUEST_ID]
        if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            kind = type(exc).__name__
            log.info("bad request", status=status, request_id=identifier, kind=kind)
        else:
            log.error("internal server error", status=status, request_id=identifier, exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("the answer has begun and cannot become another one")
        answer = answer_by_status(status).for_aiohttp()
        answer.headers.update(headers)
        answer.force_close()
        return answer


def _headers() -> dict[str, str]:
    """Return the header fields of an answer that the gate does not make; aiohttp would name its version."""
    return {REQUEST_ID: new_request_id(), "Server": "token-service"}
