"""How do spans leave the process? By OpenTelemetry's SDK, from a thread of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection
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

NAME = "token-service"

FLUSHED_WITHIN = 5
"""Seconds that a process which ends waits for a collector to take the last spans."""


class SpanExport:
    """Sends spans where the environment says, in batches; to the console each at once."""

    def __init__(self, exporters: Collection[str]) -> None:
        """Make everything but the thread, which a process that forks must not have."""
        self.provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        self._otlp: SpanExporter | None = OTLPSpanExporter() if "otlp" in exporters else None
        self._console = "console" in exporters

    @property
    def tracer(self) -> Tracer:
        """What makes the spans."""
        return self.provider.get_tracer(NAME)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Export until the block is left, and then what waits."""
        # It would log what is wrong with a caller's tracestate, and so whatever the caller put there.
        logging.getLogger("opentelemetry.trace.span").setLevel(logging.CRITICAL)
        if self._otlp is not None:
            self.provider.add_span_processor(BatchSpanProcessor(self._otlp))
        if self._console:
            self.provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter()))
        try:
            yield
        finally:
            await self._flush()

    async def _flush(self) -> None:
        """Send the last spans; a thread that nobody waits for, lest a collector that hangs delays the end."""
        loop, over = asyncio.get_running_loop(), asyncio.Event()

        def shut_down() -> None:
            self.provider.shutdown()
            with suppress(RuntimeError):  # the loop has not waited
                loop.call_soon_threadsafe(over.set)

        Thread(target=shut_down, daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSHED_WITHIN):
                await over.wait()


def _resource() -> Resource:
    """What all spans of this process have in common; the environment has the last word."""
    own = Resource({"service.name": NAME, "service.instance.id": str(uuid4())})
    return Resource.create().merge(own).merge(OTELResourceDetector().detect())
