"""Are traces asked for, and can they be had? As the standard environment of OpenTelemetry says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.observe.spans import Spans

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
"""The first that says something counts."""
_EXPORTER = "OTEL_TRACES_EXPORTER"
_EXPORTERS = {"otlp", "console"}
_PROTOCOL = "http/protobuf"


class CannotTrace(Exception):
    """The environment asks for traces that cannot be had; the message says what to do."""


def open_tracing(environ: Mapping[str, str], *, issuer: str) -> Spans | None:
    """What makes spans, or None where nobody asks for any: then nothing of OpenTelemetry is imported."""
    exporters = wanted_exporters(environ)
    if not exporters:
        return None
    try:
        from service.observe.export_variables import check_variables  # noqa: PLC0415 - an optional extra
        from service.observe.span_export import SpanExport  # noqa: PLC0415
        from service.observe.spans import Spans  # noqa: PLC0415

        check_variables(environ)
        return Spans(SpanExport(exporters), issuer=issuer)
    except ImportError as error:
        raise CannotTrace(
            "the environment (OTEL_*) asks for traces; install what they need with "
            "pip install 'token-service[tracing]', or set OTEL_SDK_DISABLED=true"
        ) from error
    except (ValueError, RuntimeError) as error:
        raise CannotTrace(f"a variable of the environment (OTEL_*) is wrong: {error}") from error


def wanted_exporters(environ: Mapping[str, str]) -> frozenset[str]:
    """Where spans go: `otlp`, `console`, both, or nowhere unless a variable says so."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return frozenset()
    usual = "otlp" if any(environ.get(name) for name in ENDPOINTS) else "none"
    named = (environ.get(_EXPORTER) or usual).split(",")
    wanted = frozenset(name.strip() for name in named) - {"none"}
    if unknown := sorted(wanted - _EXPORTERS):
        raise CannotTrace(f"{_EXPORTER} can be otlp, console or none, not {', '.join(unknown)}")
    protocol = next(filter(None, map(environ.get, _PROTOCOLS)), _PROTOCOL)
    if "otlp" in wanted and protocol != _PROTOCOL:
        raise CannotTrace(f"spans are exported by {_PROTOCOL} only; set {_PROTOCOLS[0]} to it")
    return wanted
