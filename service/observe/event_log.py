"""The audit log and the request log: one line of JSON per event, with its request's id."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import cast

import orjson

from service.model.events import RequestAnswered, current_request_id

PROBES = frozenset({"/health/live", "/health/ready", "/metrics"})
"""Asked every few seconds by machines, and therefore told at level debug only, while all is well."""

_requests = logging.getLogger("service.requests")
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _write_to_stderr(line: str) -> None:
    sys.stderr.write(line)


class EventLog:
    """Writes every event down; JSON keeps a line one line, whatever is in it."""

    def __init__(self, write: Callable[[str], object] = _write_to_stderr) -> None:
        """Take where the lines go."""
        self._write = write
        self._members: dict[type[object], tuple[str, ...]] = {}

    def __call__(self, event: object) -> None:
        """Write one event, unless it is a request and the level says that those do not matter."""
        if isinstance(event, RequestAnswered):
            quiet = event.endpoint in PROBES and event.status < HTTPStatus.BAD_REQUEST
            level = logging.DEBUG if quiet else logging.INFO
            if _requests.isEnabledFor(level):
                self._write(self._line(event, logger="requests"))
        else:
            self._write(self._line(event, logger="audit"))

    def _line(self, event: object, *, logger: str) -> str:
        kind = type(event)
        content = {
            "timestamp": datetime.now(UTC),
            "level": "info",
            "logger": logger,
            "event": event_name(kind),
            "request_id": current_request_id.get(),
            **{member: getattr(event, member) for member in self._members_of(kind)},
        }
        options = orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE
        return orjson.dumps(content, default=_plain, option=options).decode()

    def _members_of(self, kind: type[object]) -> tuple[str, ...]:
        known = self._members.get(kind)
        if known is None:
            known = tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
            self._members[kind] = known
        return known


def event_name(kind: type[object]) -> str:
    """What an event is called in the log: `TokenIssued` is `token_issued`."""
    return _WORD.sub("_", kind.__name__).lower()


def _plain(value: object) -> object:
    """Sets become lists, in an order that can be compared."""
    if isinstance(value, frozenset):
        return sorted(str(member) for member in cast("frozenset[object]", value))
    return str(value)
