"""A collector of traces, as OTLP over HTTP reaches it: keeps the spans that processes export."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

SECONDS = 120
"""How long a span may take until it is here."""


@dataclass
class Collector:
    """The exported spans."""

    url: str
    exports: list[ExportTraceServiceRequest] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        """For a process that exports here, at once."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, "OTEL_BSP_SCHEDULE_DELAY": "50"}

    @property
    def spans(self) -> list[Span]:
        """Every span, of whatever process."""
        return [
            span
            for export in self.exports
            for resource in export.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def text(self) -> str:
        """All that was exported, to be searched."""
        return "\n".join(str(export) for export in self.exports)

    def resources(self, name: str) -> set[str]:
        """The values of an attribute that all spans of a process have in common."""
        return {
            attribute.value.string_value
            for export in self.exports
            for resource in export.resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == name
        }

    def wait_for(self, name: str, count: int = 1) -> list[Span]:
        """The spans of that name, as soon as there are so many."""
        deadline = time.monotonic() + SECONDS
        while True:
            found = [span for span in self.spans if span.name == name]
            if len(found) >= count:
                return found
            assert time.monotonic() < deadline, {span.name for span in self.spans}
            time.sleep(0.05)


@contextmanager
def collector_running() -> Iterator[Collector]:
    """One on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.exports.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
