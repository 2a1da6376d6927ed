"""The fast lane: small requests that arrive whole are answered without aiohttp.

An API sends the same few hundred bytes again and again on a connection that stays open, and a browser follows
redirects. For those this is the whole server. Any other request (in pieces, before the previous one is answered, of
another version of HTTP) goes to aiohttp with its connection, from its first byte on (docs/decisions/server/fast-lane.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus
from typing import cast
from wsgiref.handlers import format_date_time

import msgspec
import structlog

from service.clock import clock
from service.web.endpoint import Answer, Direct, DirectRoutes, WholeRequest
from service.web.proxy import Mount
from service.web.sent_credentials import peer_certificates
from service.web.server.connections import (
    Connections,
    peer_address,
    send_answers_in_turn,
    survives_half_close,
)
from service.web.server.whole_requests import LARGEST, WholeRequestReader

log = structlog.stdlib.get_logger(__name__)

_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}

_LAST_FIELDS = (
    b"Server: token-service\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
    b"Connection: close\r\nContent-Length: 0\r\n\r\n"
)
_CANNOT_BE_WRITTEN = _STATUS_LINES[HTTPStatus.INTERNAL_SERVER_ERROR] + _LAST_FIELDS
_CUT_OFF = _STATUS_LINES[HTTPStatus.SERVICE_UNAVAILABLE] + _LAST_FIELDS


class Lane(msgspec.Struct, kw_only=True, eq=False):
    """The state that the connections of one server share."""

    served: DirectRoutes
    """All that is served here."""
    mount: Mount
    answer: Callable[[WholeRequest, Direct], Answer | Awaitable[Answer]]
    """Answers at once what waits for nothing."""
    always: bytes
    """The header fields of every answer but the date, as they go over the wire."""
    otherwise: Callable[[], asyncio.Protocol]
    """Makes aiohttp's protocol for all else."""
    idle_seconds: float
    accepted: Connections
    largest: int = LARGEST
    connections: set[LaneConnection] = msgspec.field(default_factory=set)
    closing: bool = False
    _ready: list[tuple[LaneConnection, Answer]] = msgspec.field(default_factory=list)
    """Answers that have not been sent yet."""
    _second: int = 0
    _fields: bytes = b""
    _sweeping: asyncio.TimerHandle | None = None

    def connection(self) -> LaneConnection:
        """Return a protocol for one connection."""
        if self._sweeping is None:
            self._sweep_later()
        return LaneConnection(self, asyncio.get_running_loop())

    def send_soon(self, connection: LaneConnection, answer: Answer) -> None:
        """Send an answer together with all others of this turn of the loop.

        Each is a system call, and the work for another request in between would evict its code from the CPU's caches,
        and be evicted by it (docs/decisions/server/batched-answers.md).
        """
        if not self._ready:
            asyncio.get_running_loop().call_soon(self._send_ready)
        self._ready.append((connection, answer))

    def _send_ready(self) -> None:
        ready, self._ready = self._ready, []
        for connection, answer in ready:
            connection.send(answer)

    def begin_to_close(self) -> None:
        """Close what is idle now, and every other connection after its answer."""
        self.closing = True
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connection in tuple(self.connections):
            connection.close_unless_answering()

    async def wait_until_quiet(self) -> None:
        """Wait until nothing is being answered."""
        while answers := self._answers():
            await asyncio.wait(answers)

    async def close(self, timeout: float | None) -> None:  # noqa: ASYNC109 - aiohttp's own name
        """Wait so many seconds for the answers that are being made, then cut off what is left."""
        if answers := self._answers():
            await asyncio.wait(answers, timeout=timeout)
        self._send_ready()
        for connection in tuple(self.connections):
            connection.cut_off()

    def _answers(self) -> list[asyncio.Task[None]]:
        return [each.answering for each in self.connections if each.answering]

    def fields(self) -> bytes:
        """Return the header fields of every answer with the date, made once a second (RFC 9110 §6.6.1)."""
        now = clock()
        if now != self._second:
            self._second = now
            self._fields = self.always + f"Date: {format_date_time(now)}\r\n".encode()
        return self._fields

    def _sweep_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._sweeping = loop.call_later(self.idle_seconds / 10, self._sweep)

    def _sweep(self) -> None:
        """Close what has been idle for long; one timer for all is cheaper than one for each answer."""
        oldest = asyncio.get_running_loop().time() - self.idle_seconds
        for connection in tuple(self.connections):
            connection.close_if_idle_since(oldest)
        self._sweep_later()


class LaneConnection(asyncio.Protocol):
    """Serves one connection, one request at a time."""

    __slots__ = (
        *("_has_ended", "_idle_since", "_is_busy", "_lane", "_later", "_loop", "_reader"),
        *("_transport", "_unread", "answering"),
    )

    def __init__(self, lane: Lane, loop: asyncio.AbstractEventLoop) -> None:
        self._lane = lane
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._reader = WholeRequestReader(lane.largest, lane.served, lane.mount)
        self._idle_since = loop.time()
        self._later = b""
        """Bytes that came before the answer was ready."""
        self._unread = False
        self._is_busy = False
        """Whether a request has come whose answer was not sent yet."""
        self._has_ended = False
        """Whether the client sends nothing more."""
        self.answering: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        send_answers_in_turn(transport)
        self._reader.remote = peer_address(transport)
        self._reader.peer_certificates = peer_certificates(transport.get_extra_info("ssl_object"))
        self._lane.connections.add(self)
        self._lane.accepted.add(self, transport.get_extra_info("socket"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()

    def _forget(self) -> None:
        self._transport = None
        self._lane.connections.discard(self)
        self._lane.accepted.remove(self)

    @property
    def peer(self) -> str | None:
        return self._reader.remote

    @property
    def idle_since(self) -> float | None:
        return None if self._is_busy else self._idle_since

    @property
    def unsent_bytes(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def data_received(self, data: bytes) -> None:
        """Begin to answer, or hand the connection over to aiohttp; what comes too early waits."""
        if self._is_busy:
            self._later += data
            if self._transport is not None:
                self._transport.pause_reading()
            return
        request = self._reader.read(data)
        if request is None or request.route is None:
            self._hand_over(data)
            return
        self._is_busy = True
        answer = self._lane.answer(request, request.route)
        if type(answer) is Answer:  # `isinstance` takes longer where it is none
            self._lane.send_soon(self, answer)
            return
        # A name that is given costs less than one that asyncio makes up.
        answering = self._answer(answer)
        self.answering = asyncio.Task(answering, loop=self._loop, name=request.route.path)

    def eof_received(self) -> bool:
        """Send the answer first where the client has ended its side behind its request (RFC 9112 §9.6)."""
        self._has_ended = True
        return self._is_busy and survives_half_close(self._transport)

    def pause_writing(self) -> None:
        """Stop reading from a client that does not read its answers."""
        self._unread = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._unread = False
        if not self._is_busy:
            self._resume_reading()

    def close_unless_answering(self) -> None:
        if not self._is_busy and self._transport is not None:
            self._transport.close()

    def close_if_idle_since(self, moment: float) -> None:
        """Close the connection if nothing has happened since a moment of the loop's clock."""
        if self._idle_since >= moment:
            return
        if self._unread:
            self.abort()  # closing would wait for the client to read
        else:
            self.close_unless_answering()

    def abort(self) -> None:
        """Close the connection whatever is going on."""
        if self._transport is not None:
            self._transport.abort()

    def cut_off(self) -> None:
        """Close the connection; a request that still runs gets no other answer than this one (RFC 9110 §15.6.4)."""
        transport = self._transport
        if transport is None or transport.is_closing() or not self._is_busy:
            self.abort()
            return
        self._is_busy, self.answering = False, None
        transport.write(_CUT_OFF)
        if self.unsent_bytes:
            self.abort()  # closing would wait for the client to read
        else:
            transport.close()

    async def _answer(self, answering: Awaitable[Answer]) -> None:
        try:
            answer = await answering
        except asyncio.CancelledError:
            self.cut_off()
            raise
        self._lane.send_soon(self, answer)

    def send(self, answer: Answer) -> None:
        """Send the answer to the request that has come last."""
        self._is_busy, self.answering = False, None
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        try:
            transport.write(self._serialize(answer))
        except Exception:
            log.exception("an answer could not be written")
            transport.write(_CANNOT_BE_WRITTEN)
            transport.close()
            return
        if "Connection" in answer.headers or self._lane.closing or self._has_ended:
            transport.close()
            return
        self._idle_since = self._loop.time()
        if self._later and not self._unread:
            self._resume_reading()

    def _resume_reading(self) -> None:
        if self._transport is None:
            return
        self._transport.resume_reading()
        later, self._later = self._later, b""
        if later:
            self.data_received(later)

    def _serialize(self, answer: Answer) -> bytes:
        """Return the answer as it goes over the wire (RFC 9112 §4)."""
        own = _lines(answer.headers.items())
        if answer.cookies:
            own += _lines([("Set-Cookie", cookie) for cookie in answer.cookies.values()])
        if answer.status != HTTPStatus.NO_CONTENT:  # RFC 9110 §8.6
            own += b"Content-Length: %d\r\n" % len(answer.body)
        head = _STATUS_LINES[answer.status], answer.fields.wire, self._lane.fields(), own
        return b"%b%b%b%b\r\n%b" % (*head, answer.body)

    def _hand_over(self, data: bytes) -> None:
        """Make it aiohttp's connection, as if it had been from the beginning."""
        transport, protocol = self._transport, self._lane.otherwise()
        if transport is None:
            return
        self._forget()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        protocol.data_received(data)


def _lines(fields: Iterable[tuple[str, str]]) -> bytes:
    lines = b""
    for name, value in fields:
        if "\n" in value or "\r" in value:
            raise ValueError("a header field holds a line break")
        lines += f"{name}: {value}\r\n".encode()
    return lines
