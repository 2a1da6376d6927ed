"""The audit log and the request log: one line of JSON per event, with its request's id."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, cast

import msgspec
import orjson
from msgspec.structs import asdict

from service.model.events import RequestAnswered, TokenIntrospected, current_request_id
from service.model.trace import trace_id

_requests = logging.getLogger("service.requests")
_audit = logging.getLogger("service.audit")
REFUSED = 400
"""The first status of an answer that is none (RFC 9110 §15.5)."""

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


@dataclass(frozen=True, slots=True)
class _Kind:
    """What all events of a class have in common."""

    event: str
    members: Callable[[Any], Mapping[str, object]]
    """What one of them says, by name."""


class EventLog:
    """Writes every event down; JSON keeps a line one line, whatever is in it."""

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        """Take where the lines go; standard error where nothing is said."""
        self._write = write or Lines()
        self._kinds: dict[type[object], _Kind] = {}

    def __call__(self, event: object) -> None:
        """Write one event; what happens all day and went well is told at level debug only."""
        if isinstance(event, RequestAnswered):
            well = event.status < REFUSED
            if _requests.isEnabledFor(logging.DEBUG if well else logging.INFO):
                self._write(self._line(event, logger="requests"))
        elif not isinstance(event, TokenIntrospected) or _audit.isEnabledFor(logging.DEBUG):
            self._write(self._line(event, logger="audit"))

    def _line(self, event: object, *, logger: str) -> str:
        kind = self._kind(type(event))
        content = {
            "timestamp": datetime.now(UTC),
            "level": "info",
            "logger": logger,
            "event": kind.event,
            "request_id": current_request_id.get(),
            **_trace(),
            **kind.members(event),
        }
        options = orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE
        return orjson.dumps(content, default=_plain, option=options).decode()

    def _kind(self, kind: type[object]) -> _Kind:
        known = self._kinds.get(kind)
        if known is None:
            known = self._kinds[kind] = _Kind(event_name(kind), _reader(kind))
        return known


def members_of(kind: type[object]) -> tuple[str, ...]:
    """What an event says, by the names of its members."""
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_fields__
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _reader(kind: type[object]) -> Callable[[Any], Mapping[str, object]]:
    if issubclass(kind, msgspec.Struct):
        return asdict
    names = members_of(kind)
    return lambda event: {name: getattr(event, name) for name in names}


def event_name(kind: type[object]) -> str:
    """What an event is called in the log: `TokenIssued` is `token_issued`."""
    return _WORD.sub("_", kind.__name__).lower()


def _trace() -> dict[str, str]:
    """The trace in which it happened, where it is traced."""
    identifier = trace_id()
    return {} if identifier is None else {"trace_id": identifier}


def _plain(value: object) -> object:
    """Sets become lists, in an order that can be compared."""
    return _listed(cast("frozenset[object]", value)) if isinstance(value, frozenset) else str(value)


@lru_cache(maxsize=1000)  # scopes, of which the same few are told all day
def _listed(members: frozenset[object]) -> tuple[str, ...]:
    return tuple(sorted(map(str, members)))
