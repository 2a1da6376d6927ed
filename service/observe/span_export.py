"""Sends spans to a collector or the console, by OpenTelemetry's SDK and from its own thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from threading import Thread
from uuid import uuid4

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SimpleSpanProcessor,
    SpanExporter,
)
from opentelemetry.trace import Tracer
from opentelemetry.util.re import parse_env_headers

NAME = "token-service"

FLUSHED_WITHIN = 5
"""Seconds that a process which ends waits for a collector to take the last spans."""

_HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")

_QUOTING_LOGGERS = (
    "opentelemetry.trace.propagation.tracecontext",
    "opentelemetry.trace.span",
    "opentelemetry.util.re",
)
"""They warn of each malformed traceparent or tracestate, and quote what a caller or the operator wrote."""


class SpanExport:
    """Sends spans where the environment says, in batches; to the console each at once."""

    def __init__(self, exporters: Collection[str]) -> None:
        """Make everything but the thread, which a process that forks must not have."""
        self.provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        self._otlp: SpanExporter | None = OTLPSpanExporter() if "otlp" in exporters else None
        self._console = "console" in exporters
        _silence_opentelemetry()

    @property
    def tracer(self) -> Tracer:
        return self.provider.get_tracer(NAME)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Export until the block is left, and then what waits."""
        if self._otlp is not None:
            self.provider.add_span_processor(BatchSpanProcessor(self._otlp))
        if self._console:
            self.provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter()))
        try:
            yield
        finally:
            await self._flush()

    async def _flush(self) -> None:
        """Send the last spans from a daemon thread, so that a collector that hangs does not delay the end."""
        loop, over = asyncio.get_running_loop(), asyncio.Event()

        def shut_down() -> None:
            self.provider.shutdown()
            with suppress(RuntimeError):  # the loop has not waited
                loop.call_soon_threadsafe(over.set)

        Thread(target=shut_down, daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSHED_WITHIN):
                await over.wait()


def check_headers(environ: Mapping[str, str]) -> None:
    """Raise a ValueError that does not quote the headers for the collector, if they are malformed."""
    _silence_opentelemetry()
    for name in _HEADERS:
        for header in filter(str.strip, environ.get(name, "").split(",")):
            if not parse_env_headers(header, liberal=True):
                raise ValueError(f"{name} is no list of name=value, each value URL-encoded")


def _silence_opentelemetry() -> None:
    for name in _QUOTING_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _resource() -> Resource:
    """Return what all spans of this process have in common; the environment has the last word."""
    own = Resource({"service.name": NAME, "service.instance.id": str(uuid4())})
    return Resource.create().merge(own).merge(OTELResourceDetector().detect())
