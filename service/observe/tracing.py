"""Decides by OpenTelemetry's environment variables whether traces are made, and where they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from service.distribution import how_to_install

if TYPE_CHECKING:
    from service.observe.spans import Spans

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
"""The first that is set counts."""
_EXPORTER = "OTEL_TRACES_EXPORTER"
_EXPORTERS = {"otlp", "console"}
_PROTOCOL = "http/protobuf"
_QUEUE, _BATCH = "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"
_NUMBERS = {
    _QUEUE: "2048",
    _BATCH: "512",
    "OTEL_BSP_SCHEDULE_DELAY": "5000",
    "OTEL_BSP_EXPORT_TIMEOUT": "30000",
}
"""The variables that hold a number, and their defaults."""


class CannotTrace(Exception):
    """The environment asks for traces that cannot be made; the message says what to do."""


def open_tracing(environ: Mapping[str, str], *, issuer: str) -> Spans | None:
    """Return what makes spans, or None without importing OpenTelemetry if no traces are asked for."""
    exporters = wanted_exporters(environ)
    if not exporters:
        return None
    try:
        from service.observe.spans import Spans  # noqa: PLC0415 - an optional extra

        _check_variables(environ)
        return Spans(exporters, environ, issuer=issuer)
    except ImportError as error:
        raise CannotTrace(
            "the environment (OTEL_*) asks for traces, and what they need is not installed: "
            f"{how_to_install('tracing')}, or set OTEL_SDK_DISABLED=true"
        ) from error
    except (ValueError, RuntimeError) as error:
        raise CannotTrace(f"a variable of the environment (OTEL_*) is wrong: {error}") from error


def wanted_exporters(environ: Mapping[str, str]) -> frozenset[str]:
    """Return where spans go: `otlp`, `console`, both, or nowhere unless a variable says so."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return frozenset()
    default = "otlp" if any(environ.get(name) for name in _ENDPOINTS) else "none"
    named = (environ.get(_EXPORTER) or default).split(",")
    wanted = frozenset(name.strip() for name in named) - {"none"}
    if unknown := sorted(wanted - _EXPORTERS):
        raise CannotTrace(f"{_EXPORTER} can be otlp, console or none, not {', '.join(unknown)}")
    protocol = next(filter(None, map(environ.get, _PROTOCOLS)), _PROTOCOL)
    if "otlp" in wanted and protocol != _PROTOCOL:
        raise CannotTrace(f"spans are exported by {_PROTOCOL} only; set {_PROTOCOLS[0]} to it")
    return wanted


def _check_variables(environ: Mapping[str, str]) -> None:
    """Raise a ValueError that quotes no secret; OpenTelemetry would find a mistake late, and log the value."""
    for name in _ENDPOINTS:
        url = urlsplit(environ.get(name) or "http://localhost")
        if url.scheme not in {"http", "https"} or not url.hostname:
            raise ValueError(f"{name} is no http or https URL")
    numbers = {name: environ.get(name) or default for name, default in _NUMBERS.items()}
    for name, number in numbers.items():
        if not number.isdecimal() or int(number) == 0:
            raise ValueError(f"{name} is no whole number above 0")
    queue, batch = int(numbers[_QUEUE]), int(numbers[_BATCH])
    if batch > queue:
        raise ValueError(f"{_BATCH} is {batch}, and {_QUEUE} only {queue}")
