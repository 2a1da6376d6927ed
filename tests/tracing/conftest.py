"""A service whose spans are kept in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import format_span_id, format_trace_id

from service.observe.spans import Spans
from tests.driving.listening import listening

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"
SAMPLED = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
NOT_SAMPLED = {"traceparent": f"00-{TRACE}-{CALLER}-00"}


@dataclass
class Traced:
    """The spans that have ended."""

    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)

    def all(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def named(self, name: str) -> ReadableSpan:
        """The one span of that name."""
        (found,) = [span for span in self.all() if span.name == name]
        return found

    async def ended(self, name: str) -> ReadableSpan:
        """The same, as soon as it has ended."""
        for _ in range(6000):
            if name in {span.name for span in self.all()}:
                break
            await asyncio.sleep(0.02)
        return self.named(name)

    def below(self, parent: ReadableSpan) -> set[str]:
        """The names of what happened in a span."""
        return {span.name for span in self.all() if parent_of(span) == id_of(parent)}


def id_of(span: ReadableSpan) -> str:
    """Trace and span, as `traceparent` names them."""
    context = span.get_span_context()
    assert context is not None
    return f"{format_trace_id(context.trace_id)}-{format_span_id(context.span_id)}"


def parent_of(span: ReadableSpan) -> str | None:
    """The same of the span above."""
    above = span.parent
    if above is None:
        return None
    return f"{format_trace_id(above.trace_id)}-{format_span_id(above.span_id)}"


def sent_by(span: ReadableSpan) -> str:
    """Return the `traceparent` of requests that are sent in that span."""
    context = span.get_span_context()
    assert context is not None
    return f"00-{id_of(span)}-{context.trace_flags:02x}"


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Traced:
    """Nothing yet."""
    monkeypatch.delenv("OTEL_TRACES_SAMPLER", raising=False)
    return Traced()


@pytest.fixture
def spans(traced: Traced) -> Spans:
    """Spans that stay here."""
    spans = Spans((), {}, issuer="https://sso.example")
    spans.provider.add_span_processor(SimpleSpanProcessor(traced.exporter))
    return spans


@dataclass
class Other:
    """Somebody else's server, which knows nothing."""

    url: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        self.headers.append(dict(request.headers))
        return web.Response(status=404)


@pytest.fixture
async def other() -> AsyncIterator[Other]:
    """One on loopback."""
    other = Other()
    async with listening(other.answer) as origin:
        other.url = f"{origin.replace('127.0.0.1', 'localhost')}/keys?with=query"
        yield other
