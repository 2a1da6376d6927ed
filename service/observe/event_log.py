"""Hands events to their listeners, and writes the audit log and the request log: one line per event, with the id of its request."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping
from contextvars import copy_context
from datetime import UTC, datetime
from http import HTTPStatus
from threading import get_ident

import msgspec
import orjson
import structlog
from msgspec.structs import replace

from service.events.event import Emit, Event, Level, event_name
from service.events.timings import FIRST_LOGGED_STATUS, RequestAnswered
from service.model.request_context import current_request, trace_id
from service.observe.logs import text_renderer, wants_text

log = structlog.stdlib.get_logger(__name__)
_requests = logging.getLogger("service.requests")
_audit = logging.getLogger("service.audit")

_encode = msgspec.json.Encoder(order="deterministic", enc_hook=str).encode
"""Sets become sorted lists."""

_HAS_MEMBERS = b'{"'
_SERVER_ERROR = HTTPStatus.INTERNAL_SERVER_ERROR.value
_NUMBERS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}
_MICRO = 6
"""Decimal places of seconds in the log."""


def writes_frequent() -> bool:
    """Return whether successful requests, or events of level debug, are logged."""
    return _requests.isEnabledFor(logging.DEBUG) or _audit.isEnabledFor(logging.DEBUG)


class FanOut:
    """An `Emit` that calls all listeners, in the thread of the event loop.

    A listener that fails is logged, and affects neither the other listeners nor the request.
    """

    def __init__(self, *listeners: Emit) -> None:
        self._listeners = listeners
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None

    def emit(self, event: Event) -> None:
        """Call the listeners; soon if another thread than the loop's asks for it, which alone may touch what they keep."""
        if get_ident() != self._thread:  # asking for the running loop is a system call
            try:
                self._loop, self._thread = asyncio.get_running_loop(), get_ident()
            except RuntimeError:
                if self._loop is not None and self._loop.is_running():
                    self._loop.call_soon_threadsafe(self.emit, event, context=copy_context())
                    return
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed", event_kind=type(event).__name__)


class _Head(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The members that every line begins with."""

    timestamp: datetime
    level: str
    logger: str
    event: str
    request_id: str | None
    trace_id: str | None = None
    client_key: Mapping[str, str] | None = None


def _write_to_standard_error(lines: str) -> None:
    sys.stderr.write(lines)
    sys.stderr.flush()


class EventLog:
    """Writes every event as JSON, in which a line break of a value cannot begin a new line.

    The lines of one turn of the event loop are made and written together: a write is a system call, and the code that
    makes lines is in the CPU's cache after the first.
    """

    def __init__(
        self,
        write: Callable[[str], object] = _write_to_standard_error,
        render: Callable[[bytes], str] = bytes.decode,
    ) -> None:
        """Take the function that writes lines, and the one that makes a line of an event's JSON; the levels are as they are now."""
        self._write = write
        self._render = render
        self._writes_all_requests = _requests.isEnabledFor(logging.DEBUG)
        self._writes_frequent = _audit.isEnabledFor(logging.DEBUG)
        self._waiting: list[tuple[_Head, Event]] = []

    @classmethod
    def on_standard_error(cls, environ: Mapping[str, str]) -> EventLog:
        """Return a log of JSON, or of readable lines where the environment or a terminal wants them."""
        if not wants_text(environ):
            return cls()
        render = text_renderer(environ)
        return cls(render=lambda line: f"{render(None, '', orjson.loads(line))!s}\n")

    def note(self, event: Event) -> None:
        """Write one event soon; successful requests and events of level debug only at that level."""
        if type(event) is RequestAnswered:  # `isinstance` takes longer for structs
            if event.status >= FIRST_LOGGED_STATUS:
                level: Level = "info" if event.status < _SERVER_ERROR else "warning"
            elif self._writes_all_requests:
                level = "debug"
            else:
                return
            if _requests.isEnabledFor(_NUMBERS[level]):
                event = replace(event, seconds=round(event.seconds, _MICRO))
                self._keep(event, level, "requests")
            return
        level = getattr(type(event), "level", "info")  # an extension grant may emit any object
        if level != "debug" or self._writes_frequent:
            self._keep(event, level, "audit")

    def _keep(self, event: Event, level: Level, logger: str) -> None:
        """Write the line before the loop waits again; immediately if no loop runs."""
        request = current_request.get()
        request_id, client_key = (request.id, request.client_key) if request else (None, None)
        head = _Head(
            datetime.now(UTC),
            level,
            logger,
            event_name(type(event)),
            request_id,
            trace_id(),
            client_key,
        )
        self._waiting.append((head, event))
        if len(self._waiting) == 1:
            try:
                asyncio.get_running_loop().call_soon(self.flush)
            except RuntimeError:
                self.flush()

    def flush(self) -> None:
        """Write what waits; an event that cannot be written as JSON is named in place of its line."""
        waiting, self._waiting = self._waiting, []
        lines: list[str] = []
        for head, event in waiting:
            try:
                lines.append(self._render(_line(head, event)))
            except Exception:
                log.exception("an event cannot be written", event_kind=type(event).__name__)
        self._write("".join(lines))


def _line(head: _Head, event: Event) -> bytes:
    begun, members = _encode(head), _encode(event)
    if members[:2] != _HAS_MEMBERS:
        return begun + b"\n"
    # Two objects made one: this takes half as long as a dictionary of both.
    return b"%b,%b\n" % (begun[:-1], members[1:])
