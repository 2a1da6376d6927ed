"""A connection whose requests aiohttp reads and its router answers."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, cast

import structlog
from aiohttp import web
from aiohttp.http import RawRequestMessage
from aiohttp.web_protocol import RequestHandler

from service.http.admission import MAX_HEAD_BYTES
from service.http.gate import REQUEST_ID, new_request_id
from service.server.connections import Connections

_REQUEST_LINE_BYTES = 100
"""The method, the version and separators, which the limit of a head does not count."""

_HEADERS = {
    "Server": "token-service",  # or aiohttp names its version
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}

log = structlog.stdlib.get_logger(__name__)


class RoutedConnection(RequestHandler):
    """Answers without an echo of what was sent, and takes part in the limits of all connections."""

    __slots__ = ("_accepted", "_connections", "_unfinished")

    def __init__(self, server: web.Server, connections: Connections, **settings: Any) -> None:
        super().__init__(server, **settings)
        self._connections = connections
        self._accepted: asyncio.Transport | None = None
        self._unfinished = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._accepted = cast("asyncio.Transport", transport)
        super().connection_made(transport)
        self._connections.add(self, transport.get_extra_info("socket"))

    def connection_lost(self, exc: BaseException | None) -> None:
        self._accepted = None
        super().connection_lost(exc)
        self._connections.remove(self)

    @property
    def idle_since(self) -> float | None:
        """When it began to wait for a request; None during one."""
        if self._messages or self._request_in_progress:
            return None
        return self._next_keepalive_close_time - self.keepalive_timeout

    @property
    def unsent_bytes(self) -> int:
        """Bytes of answers that the system does not take yet."""
        return 0 if self._accepted is None else self._accepted.get_write_buffer_size()

    def abort(self) -> None:
        """Close the connection without sending anything more."""
        if self._accepted is not None:
            self._accepted.abort()

    def data_received(self, data: bytes) -> None:
        """Bound an unfinished head, and report a malformed body to its reader, which aiohttp lets wait."""
        super().data_received(data)
        if self._messages:
            self._unfinished = 0
            self._connections.finish_head(self)
        elif self._waiter is not None or self._request_count == 0:
            self._bound_head(len(data))
        request = self._current_request
        if request is None or request.content.is_eof() or not self._messages:
            return
        if not isinstance(self._messages[-1][0], RawRequestMessage):
            request.content.set_exception(web.RequestPayloadError("malformed body"))

    def _bound_head(self, size: int) -> None:
        """Refuse a head that is too large before it is complete; aiohttp's parser limits each field, and not their sum."""
        self._connections.begin_head(self)
        self._unfinished += size
        if self._unfinished > MAX_HEAD_BYTES + _REQUEST_LINE_BYTES and self.transport is not None:
            fields = {REQUEST_ID: new_request_id(), **_HEADERS, "Content-Length": "0"}
            lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            status = "HTTP/1.1 431 Request Header Fields Too Large"  # RFC 6585 §5
            self.transport.write(f"{status}\r\n{lines}Connection: close\r\n\r\n".encode())
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
            status=status, text=text, headers={REQUEST_ID: identifier, **_HEADERS}
        )
        answer.force_close()
        return answer
