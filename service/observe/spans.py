"""Makes the span of each request, and a span for each thing that the request waits for.

A span holds the attributes of OpenTelemetry's semantic conventions: routes, methods, hosts and names of commands, and
nothing else that a caller or a user has sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPMethod, HTTPStatus
from time import time_ns
from urllib.parse import urlsplit

from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, get_current_span, use_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from service.model.events import Emit, RequestAnswered, current_traceparent
from service.model.outgoing import HttpAnswer, HttpClient
from service.model.session import LogoutDelivery
from service.model.timings import Signed, StoreAnswered
from service.observe.metrics import OTHER
from service.observe.span_export import SpanExport

_W3C = TraceContextTextMapPropagator()
_METHODS = frozenset(HTTPMethod)
"""All other methods are the caller's invention."""

Attempt = Callable[[LogoutDelivery], Awaitable[None]]
Attributes = dict[str, str | int]


class Spans:
    """Makes spans below the span of the caller."""

    def __init__(self, export: SpanExport, *, issuer: str) -> None:
        own = urlsplit(issuer)
        self._export = export
        self._tracer = export.tracer
        self._own = {"url.scheme": own.scheme, "server.address": own.hostname or ""}

    def export(self) -> AbstractAsyncContextManager[None]:
        """Export spans while this block runs."""
        return self._export.running()

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

        def note_and_emit(event: object) -> None:
            if isinstance(event, RequestAnswered):
                _note_answer(get_current_span(), event)
            emit(event)

        return note_and_emit

    def record_duration(self, event: object) -> None:
        """Record a span for what has just ended, if the present span is recorded."""
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

    @contextmanager
    def call(self, purpose: str, method: str, url: str) -> Generator[Span]:
        """Open the span of a request to another server, which gets it as its `traceparent`."""
        span = self._tracer.start_span(
            method,
            kind=SpanKind.CLIENT,
            attributes={
                "http.request.method": method,
                "token_service.purpose": purpose,
                **_describe_address(url),
            },
        )
        with _current(span):
            yield span

    def http(self, purpose: str, http: HttpClient) -> HttpClient:
        """Return the same HTTP client with a span for each request."""
        return _TracedHttp(partial(self.call, purpose), http)

    def trace_deliveries(self, attempt: Attempt) -> Attempt:
        """Return attempts with a trace of their own, which links to where the session ended."""

        async def deliver(delivery: LogoutDelivery) -> None:
            span = self._tracer.start_span(
                "backchannel_logout", Context(), links=_links(delivery.traceparent)
            )
            with _current(span):
                await attempt(delivery)

        return deliver


@dataclass(frozen=True, slots=True)
class _TracedHttp:
    span: Callable[[str, str], AbstractContextManager[Span]]
    """Opens the span of a request, by its method and URL."""
    http: HttpClient

    async def fetch(
        self, url: str, form: Mapping[str, str] | None = None, *, authorization: str | None = None
    ) -> HttpAnswer:
        with self.span("GET" if form is None else "POST", url) as span:
            answer = await self.http.fetch(url, form, authorization=authorization)
            return _note_status(span, answer)


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
    span.set_attribute("http.response.status_code", event.status)
    if event.endpoint != OTHER:
        span.set_attribute("http.route", event.endpoint)
        span.update_name(f"{event.method} {event.endpoint}")
    if event.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        _note_error(span, str(event.status))


def _note_error(span: Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


def _note_status(span: Span, answer: HttpAnswer) -> HttpAnswer:
    span.set_attribute("http.response.status_code", answer.status)
    if answer.status >= HTTPStatus.BAD_REQUEST:
        _note_error(span, str(answer.status))
    return answer


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
