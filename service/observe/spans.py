"""What are the spans of a request? Its own, and one for each thing that it waits for; with no credential inside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from time import time_ns
from urllib.parse import urlsplit

from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, get_current_span, use_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from service.model.events import Emit, RequestAnswered
from service.model.logout_delivery import LogoutDelivery
from service.model.outgoing import HttpClient
from service.model.timings import Signed, StoreAnswered
from service.model.trace import current_traceparent
from service.observe.span_attributes import (
    METHODS,
    Attributes,
    note_answer,
    note_error,
    of_address,
    of_store,
)
from service.observe.span_export import SpanExport
from service.observe.traced_http import TracedHttp

_W3C = TraceContextTextMapPropagator()

Attempt = Callable[[LogoutDelivery], Awaitable[None]]


class Spans:
    """Makes spans by OpenTelemetry's conventions, without what a caller or a person has sent.

    No path, query, header, key or user is in any: only routes, methods, hosts, names of commands.
    """

    def __init__(self, export: SpanExport, *, issuer: str) -> None:
        """Take where they go, and where this service is."""
        own = urlsplit(issuer)
        self._export = export
        self._tracer = export.tracer
        self._own = {"url.scheme": own.scheme, "server.address": own.hostname or ""}

    def exported(self) -> AbstractAsyncContextManager[None]:
        """Spans leave the process while this block runs."""
        return self._export.running()

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Generator[None]:
        """A request is answered; its span is below the caller's (W3C Trace Context §4.2)."""
        known = method if method in METHODS else "_OTHER"
        span = self._tracer.start_span(
            known if method in METHODS else "HTTP",
            _W3C.extract(headers),
            SpanKind.SERVER,
            {"http.request.method": known, **self._own},
        )
        with _current(span):
            yield

    def answered(self, emit: Emit) -> Emit:
        """An `Emit` that also notes in the span of a request how it was answered."""

        def heard(event: object) -> None:
            if isinstance(event, RequestAnswered):
                note_answer(get_current_span(), event)
            emit(event)

        return heard

    def timed(self, event: object) -> None:
        """A span for what is over, where it has happened in one that is recorded."""
        if not get_current_span().is_recording():
            return
        if isinstance(event, StoreAnswered):
            name, attributes = of_store(event)
            self._past(name, SpanKind.CLIENT, attributes, event.seconds, event.trouble)
        elif isinstance(event, Signed):
            with_alg: Attributes = {"token_service.signing.alg": event.alg}
            self._past(f"sign {event.alg}", SpanKind.INTERNAL, with_alg, event.seconds, None)

    def _past(
        self,
        name: str,
        kind: SpanKind,
        attributes: Attributes,
        seconds: float,
        trouble: str | None,
    ) -> None:
        over = time_ns()
        span = self._tracer.start_span(
            name, kind=kind, attributes=attributes, start_time=over - int(seconds * 1e9)
        )
        if trouble is not None:
            note_error(span, trouble)
        span.end(over)

    @contextmanager
    def call(self, purpose: str, method: str, url: str) -> Generator[Span]:
        """Another server is asked; it is told of this span."""
        span = self._tracer.start_span(
            method,
            kind=SpanKind.CLIENT,
            attributes={
                "http.request.method": method,
                "token_service.purpose": purpose,
                **of_address(url),
            },
        )
        with _current(span):
            yield span

    def http(self, purpose: str, http: HttpClient) -> HttpClient:
        """The same way out, each request in a span."""
        return TracedHttp(partial(self.call, purpose), http)

    def delivering(self, attempt: Attempt) -> Attempt:
        """Attempts within a span of their own, with a link to where the session ended."""

        async def delivered(delivery: LogoutDelivery) -> None:
            span = self._tracer.start_span(
                "backchannel_logout", Context(), links=_links(delivery.traceparent)
            )
            with _current(span):
                await attempt(delivery)

        return delivered


@contextmanager
def _current(span: Span) -> Generator[None]:
    """Whatever happens in this block happens in the span; a failure is noted by its kind alone."""
    told: dict[str, str] = {}
    with use_span(span, True, record_exception=False, set_status_on_exception=False):
        _W3C.inject(told)
        before = current_traceparent.set(told.get("traceparent"))
        try:
            yield
        except BaseException as error:
            note_error(span, type(error).__name__)
            raise
        finally:
            current_traceparent.reset(before)


def _links(traceparent: str | None) -> list[Link]:
    if traceparent is None:
        return []
    context = get_current_span(_W3C.extract({"traceparent": traceparent})).get_span_context()
    return [Link(context)] if context.is_valid else []
