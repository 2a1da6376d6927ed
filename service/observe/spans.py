"""Makes the span of each request, and a span for each thing that the request waits for, and exports them.

A span holds the attributes of OpenTelemetry's semantic conventions: routes, methods, hosts and names of commands, and
nothing else that a caller or a user has sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from http import HTTPMethod, HTTPStatus
from threading import Thread
from time import time_ns
from typing import Protocol, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider, export
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, get_current_span, use_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.re import parse_env_headers

from service.events.event import Emit, Event
from service.events.timings import EmitTiming, RequestAnswered, Signed, StoreAnswered, Timing
from service.model.outgoing import HttpAnswer, HttpClient, HttpRequest
from service.model.request_context import current_traceparent
from service.observe.metrics import OTHER

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

_W3C = TraceContextTextMapPropagator()
_METHODS = frozenset(HTTPMethod)
"""All other methods are the caller's invention."""


class _Delivery(Protocol):
    @property
    def traceparent(self) -> str | None: ...


D = TypeVar("D", bound=_Delivery)
Attributes = dict[str, str | int]


class Spans:
    """Makes spans below the span of the caller, and sends them where the environment says."""

    def __init__(
        self, exporters: Collection[str], environ: Mapping[str, str], *, issuer: str
    ) -> None:
        """Make everything but the thread, which a process that forks must not have."""
        for name in _QUOTING_LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        _check_headers(environ)
        own = urlsplit(issuer)
        self._own = {"url.scheme": own.scheme, "server.address": own.hostname or ""}
        self.provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        self._tracer = self.provider.get_tracer(NAME)
        self._otlp = OTLPSpanExporter() if "otlp" in exporters else None
        self._console = "console" in exporters

    @asynccontextmanager
    async def export(self) -> AsyncGenerator[None]:
        """Export until the block is left, and then what waits: in batches, to the console each at once."""
        if self._otlp is not None:
            self.provider.add_span_processor(export.BatchSpanProcessor(self._otlp))
        if self._console:
            console = export.ConsoleSpanExporter()
            self.provider.add_span_processor(export.SimpleSpanProcessor(console))
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

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Generator[None]:
        """Open the span of a request, below the caller's (W3C Trace Context §4.2)."""
        known = method if method in _METHODS else "_OTHER"
        span = self._tracer.start_span(
            known if method in _METHODS else "HTTP",
            _W3C.extract(headers),
            SpanKind.SERVER,
            {"http.request.method": known, **self._own},
        )
        with _current(span):
            yield

    def note_answers(self, emit: Emit) -> Emit:
        """Return an `Emit` that also notes in the span of a request how it was answered."""

        def note_and_emit(event: Event) -> None:
            if isinstance(event, RequestAnswered):
                _note_answer(get_current_span(), event)
            emit(event)

        return note_and_emit

    def record_durations(self, emit: EmitTiming) -> EmitTiming:
        """Return an `EmitTiming` that also records a span for what has just ended."""

        def record_and_emit(event: Timing) -> None:
            self._record_duration(event)
            emit(event)

        return record_and_emit

    def _record_duration(self, event: Timing) -> None:
        if not get_current_span().is_recording():
            return
        kind, trouble, attributes = SpanKind.INTERNAL, None, Attributes()
        if isinstance(event, StoreAnswered):
            kind, trouble = SpanKind.CLIENT, event.trouble
            name, attributes = _describe_commands(event.operations)
        elif isinstance(event, Signed):
            name, attributes["token_service.signing.alg"] = f"sign {event.alg}", event.alg
        else:
            return
        over = time_ns()
        began = over - int(event.seconds * 1e9)
        span = self._tracer.start_span(name, kind=kind, attributes=attributes, start_time=began)
        if trouble is not None:
            _note_error(span, trouble)
        span.end(over)

    def http(self, purpose: str, http: HttpClient) -> HttpClient:
        """Return the same HTTP client with a span for each request."""
        return _TracedHttp(self._tracer.start_span, purpose, http)

    def trace_deliveries(
        self, name: str, attempt: Callable[[D], Awaitable[None]]
    ) -> Callable[[D], Awaitable[None]]:
        """Return attempts with a trace of their own, which links to where the message was queued."""

        async def deliver(delivery: D) -> None:
            span = self._tracer.start_span(name, Context(), links=_links(delivery.traceparent))
            with _current(span):
                await attempt(delivery)

        return deliver


class _TracedHttp(msgspec.Struct, frozen=True):
    start_span: Callable[..., Span]
    purpose: str
    http: HttpClient

    async def fetch(self, request: HttpRequest) -> HttpAnswer:
        """Send the request with its span as its `traceparent`."""
        known = {"http.request.method": request.method, "token_service.purpose": self.purpose}
        attributes = {**known, **_describe_address(request.uri)}
        span = self.start_span(request.method, kind=SpanKind.CLIENT, attributes=attributes)
        with _current(span):
            answer = await self.http.fetch(request)
            _note_status(span, answer.status, first_error=HTTPStatus.BAD_REQUEST)
            return answer


def _check_headers(environ: Mapping[str, str]) -> None:
    """Raise a ValueError that does not quote the headers for the collector, if they are malformed."""
    for name in _HEADERS:
        for header in filter(str.strip, environ.get(name, "").split(",")):
            if not parse_env_headers(header, liberal=True):
                raise ValueError(f"{name} is no list of name=value, each value URL-encoded")


def _resource() -> Resource:
    """Return what all spans of this process have in common; the environment has the last word."""
    own = Resource({"service.name": NAME, "service.instance.id": str(uuid4())})
    return Resource.create().merge(own).merge(OTELResourceDetector().detect())


@contextmanager
def _current(span: Span) -> Generator[None]:
    """Make the span current in this block; note a failure by its kind alone."""
    carrier: dict[str, str] = {}
    with use_span(span, True, record_exception=False, set_status_on_exception=False):
        _W3C.inject(carrier)
        before = current_traceparent.set(carrier.get("traceparent"))
        try:
            yield
        except BaseException as error:
            _note_error(span, type(error).__name__)
            raise
        finally:
            current_traceparent.reset(before)


def _links(traceparent: str | None) -> list[Link]:
    if traceparent is None:
        return []
    context = get_current_span(_W3C.extract({"traceparent": traceparent})).get_span_context()
    return [Link(context)] if context.is_valid else []


def _note_answer(span: Span, event: RequestAnswered) -> None:
    """Note the status, and the route unless the caller made the path up."""
    if not span.is_recording():
        return
    _note_status(span, event.status, first_error=HTTPStatus.INTERNAL_SERVER_ERROR)
    if event.endpoint != OTHER:
        span.set_attribute("http.route", event.endpoint)
        span.update_name(f"{event.method} {event.endpoint}")


def _note_error(span: Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


def _note_status(span: Span, status: int, *, first_error: int) -> None:
    span.set_attribute("http.response.status_code", status)
    if status >= first_error:
        _note_error(span, str(status))


def _describe_commands(names: list[str]) -> tuple[str, Attributes]:
    """Return a span's name and attributes: each command once, and how many there were."""
    summary = " ".join(dict.fromkeys(names))
    attributes: Attributes = {"db.system.name": "redis", "db.query.summary": summary}
    if len(names) == 1:
        return summary, {**attributes, "db.operation.name": summary}
    attributes["db.operation.name"] = f"PIPELINE {summary}" if summary in names else "PIPELINE"
    return f"PIPELINE {summary}", {**attributes, "db.operation.batch.size": len(names)}


def _describe_address(url: str) -> Attributes:
    """Return the host of the URL, and the port where it names one."""
    try:
        split = urlsplit(url)
        named = {"server.address": split.hostname, "server.port": split.port}
    except ValueError:
        return {}
    return {name: value for name, value in named.items() if value is not None}
