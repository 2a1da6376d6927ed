"""Writes the audit log and the request log: one line per event, with the id of its request."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus

import msgspec

from service.model.events import (
    BackChannelLogoutFailed,
    CodeReplayed,
    ExtensionGrantFailed,
    LoginLocked,
    RefreshTokenReused,
    RegistryReloadRefused,
    RequestAnswered,
    TokenIntrospected,
    current_request_id,
    trace_id,
)
from service.observe.logs import text_of_json, text_renderer, wants_text

_requests = logging.getLogger("service.requests")
_audit = logging.getLogger("service.audit")

WARNINGS = frozenset(
    {
        BackChannelLogoutFailed,
        CodeReplayed,
        ExtensionGrantFailed,
        LoginLocked,
        RefreshTokenReused,
        RegistryReloadRefused,
    }
)
"""Events that an operator should look into."""

_encode = msgspec.json.Encoder(order="deterministic", enc_hook=str).encode
"""Sets become sorted lists."""

_HAS_MEMBERS = b'{"'
_NUMBERS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


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
        return cls(lambda line: write(text_of_json(line, render)))

    def __call__(self, event: object) -> None:
        """Write one event; successful requests and introspections only at level debug."""
        if isinstance(event, RequestAnswered):
            level = "debug" if event.status < HTTPStatus.BAD_REQUEST else "info"
            if event.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                level = "warning"
            if _requests.isEnabledFor(_NUMBERS[level]):
                self._write(_line(event, level, "request_answered", logger="requests"))
        elif not isinstance(event, TokenIntrospected) or _audit.isEnabledFor(logging.DEBUG):
            kind = type(event)
            known = self._kinds.get(kind)
            if known is None:
                known = self._kinds[kind] = (_level(kind), event_name(kind))
            self._write(_line(event, *known, logger="audit"))


def _line(event: object, level: str, name: str, *, logger: str) -> str:
    now = datetime.now(UTC)
    head = _encode(_Head(now, level, logger, name, current_request_id.get(), trace_id()))
    members = _encode(event)
    # Two objects made one: this takes half as long as a dictionary of both.
    rest = b"," + members[1:] if members.startswith(_HAS_MEMBERS) else b"}"
    return (head[:-1] + rest + b"\n").decode()


def _level(kind: type[object]) -> str:
    if kind is TokenIntrospected:
        return "debug"
    return "warning" if kind in WARNINGS else "info"


def event_name(kind: type[object]) -> str:
    """Return the name of an event in the log: `token_issued` for `TokenIssued`."""
    return _WORD.sub("_", kind.__name__).lower()
