"""Configures the log: JSON on standard error, or readable lines on a terminal, from a level on."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from typing import cast

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from service.model.request_context import request_id, trace_id

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("auto", "json", "text")
FORMAT = "SERVICE_LOG_FORMAT"

_IDS = ("request_id", "trace_id")
"""Shown last, because a person looks for them only after the rest."""

_MULTILINE = ("exception", "stack")


def configure_logs(level: str, environ: Mapping[str, str] = os.environ) -> None:
    """Send the logs of this program and of its libraries through one formatter."""
    shared: list[Processor] = [
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _add_ids,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                text_renderer(environ)
                if wants_text(environ)
                else structlog.processors.JSONRenderer(serializer=_json),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    logging.captureWarnings(capture=True)  # else Python writes those of libraries beside the log


def _add_ids(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    for name, identifier in (("request_id", request_id()), ("trace_id", trace_id())):
        if identifier is not None:
            event.setdefault(name, identifier)
    return event


def _json(event: EventDict, **_: object) -> str:
    return orjson.dumps(event, default=str).decode()


def wants_text(environ: Mapping[str, str]) -> bool:
    """Return whether lines are for a person: the environment says so, or standard error is a terminal."""
    chosen = environ.get(FORMAT) or "auto"
    return chosen == "text" or (chosen == "auto" and sys.stderr.isatty())


def text_renderer(environ: Mapping[str, str]) -> Processor:
    """Return what turns an event into one line, in colour on a terminal (https://no-color.org)."""
    console = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty() and not environ.get("NO_COLOR"),
        exception_formatter=structlog.dev.plain_traceback,
        sort_keys=False,
    )

    def render(logger: WrappedLogger, method: str, event: EventDict) -> str:
        shown = {
            name: _printable(value, multiline=name in _MULTILINE)
            for name, value in event.items()
            if value is not None
        }
        shown["timestamp"] = str(event.get("timestamp", ""))[11:19]
        for name in _IDS:
            if name in shown:
                shown[name] = shown.pop(name)
        return console(logger, method, shown)

    return render


def _printable(value: object, *, multiline: bool) -> object:
    """Escape control characters: a caller's text must not command the terminal."""
    if isinstance(value, list):
        values = cast("list[object]", value)
        return " ".join(str(_printable(each, multiline=False)) for each in values)
    if not isinstance(value, str):
        return value
    if multiline:
        return "\n".join(str(_printable(line, multiline=False)) for line in value.splitlines())
    return value if value.isprintable() else value.encode("unicode_escape").decode()
