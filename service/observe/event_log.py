"""The audit log and the request log: one line of JSON per event, with its request's id."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from service.model.events import RequestAnswered, TokenIntrospected, current_request_id
from service.model.trace import trace_id

_requests = logging.getLogger("service.requests")
_audit = logging.getLogger("service.audit")
REFUSED = 400
"""The first status of an answer that is none (RFC 9110 §15.5)."""

_encode = msgspec.json.Encoder(order="deterministic", enc_hook=str).encode
"""Sets become lists, in an order that can be compared."""

_SAYS_SOMETHING = b'{"'
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Lines:
    """Writes to standard error what one turn of the event loop has logged, at once.

    A write is a call of the kernel, and costs more than making the line.
    """

    def __init__(self) -> None:
        self._waiting: list[str] = []

    def __call__(self, line: str) -> None:
        """Write the line before the loop waits again; at once where no loop runs."""
        self._waiting.append(line)
        if len(self._waiting) > 1:
            return
        try:
            asyncio.get_running_loop().call_soon(self.flush)
        except RuntimeError:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        waiting, self._waiting = self._waiting, []
        sys.stderr.write("".join(waiting))
        sys.stderr.flush()


class _Head(msgspec.Struct, frozen=True, omit_defaults=True):
    """How every line begins."""

    timestamp: datetime
    level: str
    logger: str
    event: str
    request_id: str | None
    trace_id: str | None = None
    """The trace in which it happened, where it is traced."""


class EventLog:
    """Writes every event down; JSON keeps a line one line, whatever is in it."""

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        """Take where the lines go; standard error where nothing is said."""
        self._write = write or Lines()
        self._names: dict[type[object], str] = {}

    def __call__(self, event: object) -> None:
        """Write one event; what happens all day and went well is told at level debug only."""
        if isinstance(event, RequestAnswered):
            well = event.status < REFUSED
            if _requests.isEnabledFor(logging.DEBUG if well else logging.INFO):
                self._write(self._line(event, logger="requests"))
        elif not isinstance(event, TokenIntrospected) or _audit.isEnabledFor(logging.DEBUG):
            self._write(self._line(event, logger="audit"))

    def _line(self, event: object, *, logger: str) -> str:
        kind = type(event)
        name = self._names.get(kind)
        if name is None:
            name = self._names[kind] = event_name(kind)
        now = datetime.now(UTC)
        head = _encode(_Head(now, "info", logger, name, current_request_id.get(), trace_id()))
        said = _encode(event)
        # Two objects made one: this takes half as long as a dictionary of both.
        rest = b"," + said[1:] if said.startswith(_SAYS_SOMETHING) else b"}"
        return (head[:-1] + rest + b"\n").decode()


def event_name(kind: type[object]) -> str:
    """What an event is called in the log: `TokenIssued` is `token_issued`."""
    return _WORD.sub("_", kind.__name__).lower()
