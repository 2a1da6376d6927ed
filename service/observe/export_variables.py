"""Do the variables that OpenTelemetry reads have a sense? It would find out late, and quote in the log what is secret."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from urllib.parse import urlsplit

from opentelemetry.util.re import parse_env_headers

from service.observe.tracing import ENDPOINTS

_HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
_QUEUE = ("OTEL_BSP_MAX_QUEUE_SIZE", 2048)
_BATCH = ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)
_DELAY = ("OTEL_BSP_SCHEDULE_DELAY", 5000)
_TIMEOUT = ("OTEL_BSP_EXPORT_TIMEOUT", 30_000)


def check_variables(environ: Mapping[str, str]) -> None:
    """ValueError where one has none; it names the variable, and nothing that may be secret."""
    for name in ENDPOINTS:
        if (url := environ.get(name)) and not _is_web_url(url):
            raise ValueError(f"{name} is no http or https URL")
    queue, batch, *_ = [
        _positive(environ, *variable) for variable in (_QUEUE, _BATCH, _DELAY, _TIMEOUT)
    ]
    if batch > queue:
        raise ValueError(f"{_BATCH[0]} is {batch}, and {_QUEUE[0]} only {queue}")
    logging.getLogger("opentelemetry.util.re").setLevel(logging.CRITICAL)  # it quotes headers
    for name in _HEADERS:
        for header in filter(str.strip, environ.get(name, "").split(",")):
            if not parse_env_headers(header, liberal=True):
                raise ValueError(f"{name} is no list of name=value, each value URL-encoded")


def _is_web_url(url: str) -> bool:
    split = urlsplit(url)
    return split.scheme in ("http", "https") and bool(split.hostname)


def _positive(environ: Mapping[str, str], name: str, usual: int) -> int:
    value = environ.get(name) or str(usual)
    if not value.isdecimal() or int(value) == 0:
        raise ValueError(f"{name} is no whole number above 0")
    return int(value)
