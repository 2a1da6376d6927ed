"""Configures the log: JSON on standard error, or readable lines on a terminal, from a level on."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from service.model.events import current_request_id
from service.model.trace import trace_id
from service.observe.readable_lines import text_renderer, wants_text

LEVELS = ("debug", "info", "warning", "error")


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


def _add_ids(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    for name, identifier in (("request_id", current_request_id.get()), ("trace_id", trace_id())):
        if identifier is not None:
            event.setdefault(name, identifier)
    return event


def _json(event: EventDict, **_: object) -> str:
    return orjson.dumps(event, default=str).decode()
