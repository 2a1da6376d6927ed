"""Hands events to their listeners, and writes the audit log and the request log: one line per event, with the id of its request."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Callable, Mapping
from contextvars import Context, copy_context
from datetime import UTC, datetime
from http import HTTPStatus
from threading import get_ident

import msgspec
import orjson
import structlog

from service.model import ciba_events, events, factor_events, request_context
from service.model.api_events import TokenChecked, TokenIntrospected
from service.model.events import RequestAnswered
from service.observe.logs import text_renderer, wants_text

log = structlog.stdlib.get_logger(__name__)
_requests = logging.getLogger("service.requests")
_audit = logging.getLogger("service.audit")

WARNINGS = (
    events.AssertionReplayed,
    events.BackChannelLogoutFailed,
    ciba_events.CibaMessageFailed,
    ciba_events.CibaNotifierFailed,
    events.CodeReplayed,
    events.ExtensionGrantFailed,
    factor_events.FactorLocked,
    events.LoginLocked,
    events.RefreshTokenReused,
    events.RegistryReloadRefused,
    factor_events.UserNotifierFailed,
)
"""Events that an operator should look into."""

_encode = msgspec.json.Encoder(order="deterministic", enc_hook=str).encode
"""Sets become sorted lists."""

_HAS_MEMBERS = b'{"'
FREQUENT = (TokenChecked, TokenIntrospected)
"""Events that come all day; they are written at level debug only."""

_ERROR, _SERVER_ERROR = HTTPStatus.BAD_REQUEST.value, HTTPStatus.INTERNAL_SERVER_ERROR.value
_NUMBERS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


class FanOut:
    """An `Emit` that calls all listeners at the end of the event loop's turn, so that they find their code in the CPU's cache.

    A listener that fails is logged, and affects neither the other listeners nor the request.
    """

    def __init__(self, *listeners: events.Emit) -> None:
        self._listeners = listeners
        self._waiting: list[tuple[Context, object]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None

    def __call__(self, event: object) -> None:
        """Call the listeners before the loop waits again; immediately if no loop runs."""
        context = copy_context()
        # Asking for the running loop is a system call.
        if self._waiting and get_ident() == self._thread and self._loop and self._loop.is_running():
            self._waiting.append((context, event))
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._emit_from_thread(context, event)
            return
        self._loop, self._thread = loop, get_ident()
        self._waiting.append((context, event))
        if len(self._waiting) == 1:
            loop.call_soon(self.flush)

    def _emit_from_thread(self, context: Context, event: object) -> None:
        """Call the listeners in the loop's thread, which alone may touch what waits."""
        if self._loop is not None and self._loop.is_running():
            self._loop.call_soon_threadsafe(self._tell, event, context=context)
        else:
            self.flush()
            context.run(self._tell, event)

    def flush(self) -> None:
        """Call the listeners for each waiting event, in the context of its request and span."""
        waiting, self._waiting = self._waiting, []
        for context, event in waiting:
            context.run(self._tell, event)

    def _tell(self, event: object) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed", event_kind=type(event).__name__)


class Lines:
    """Writes the lines of one turn of the event loop to standard error together.

    A write is a system call, and costs more than making the line.
    """

    def __init__(self) -> None:
        self._waiting: list[str] = []

    def __call__(self, line: str) -> None:
        """Write the line before the loop waits again; immediately if no loop runs."""
        self._waiting.append(line)
        if len(self._waiting) > 1:
            return
        try:
            asyncio.get_running_loop().call_soon(self.flush)
        except RuntimeError:
            self.flush()

    def flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        sys.stderr.write("".join(waiting))
        sys.stderr.flush()


class _Head(msgspec.Struct, frozen=True, omit_defaults=True):
    """The members that every line begins with."""

    timestamp: datetime
    level: str
    logger: str
    event: str
    request_id: str | None
    trace_id: str | None = None
    client_key: Mapping[str, str] | None = None


class EventLog:
    """Writes every event as JSON, which keeps a line one line, whatever is in it."""

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        """Take the function that writes a line; standard error by default."""
        self._write = write or Lines()
        self._kinds: dict[type[object], tuple[str, str]] = {}

    @classmethod
    def on_standard_error(cls, environ: Mapping[str, str]) -> EventLog:
        """Return a log of JSON, or of readable lines where the environment or a terminal wants them."""
        if not wants_text(environ):
            return cls()
        write, render = Lines(), text_renderer(environ)
        return cls(lambda line: write(f"{render(None, '', orjson.loads(line))!s}\n"))

    def __call__(self, event: object) -> None:
        """Write one event; successful requests and introspections only at level debug."""
        if isinstance(event, RequestAnswered):
            level = "debug" if event.status < _ERROR else "info"
            if event.status >= _SERVER_ERROR:
                level = "warning"
            if _requests.isEnabledFor(_NUMBERS[level]):
                self._write(_line(event, level, "request_answered", logger="requests"))
        elif not isinstance(event, FREQUENT) or _audit.isEnabledFor(logging.DEBUG):
            kind = type(event)
            known = self._kinds.get(kind) or self._kinds.setdefault(kind, _level_and_name(kind))
            self._write(_line(event, *known, logger="audit"))


def _line(event: object, level: str, name: str, *, logger: str) -> str:
    request_id, trace_id = request_context.current_request_id.get(), request_context.trace_id()
    client_key = request_context.current_client_key.get()
    head = _Head(datetime.now(UTC), level, logger, name, request_id, trace_id, client_key)
    begun, members = _encode(head), _encode(event)
    # Two objects made one: this takes half as long as a dictionary of both.
    rest = b"," + members[1:] if members.startswith(_HAS_MEMBERS) else b"}"
    return (begun[:-1] + rest + b"\n").decode()


def _level_and_name(kind: type[object]) -> tuple[str, str]:
    level = "debug" if kind in FREQUENT else "warning" if kind in WARNINGS else "info"
    return level, event_name(kind)


def event_name(kind: type[object]) -> str:
    """Return the name of an event in the log: `token_issued` for `TokenIssued`."""
    return _WORD.sub("_", kind.__name__).lower()
