"""A way out on which each request is a span."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from opentelemetry.trace import Span

from service.model.outgoing import HttpAnswer, HttpClient
from service.observe.span_attributes import note_status


@dataclass(frozen=True, slots=True)
class TracedHttp:
    """As the client behind it, each request in a span."""

    span: Callable[[str, str], AbstractContextManager[Span]]
    """That of a request, by its method and URL."""
    http: HttpClient

    async def get(self, url: str, *, authorization: str | None = None) -> HttpAnswer:
        """Fetch something."""
        with self.span("GET", url) as span:
            answer = await self.http.get(url, authorization=authorization)
            note_status(span, answer.status)
            return answer

    async def post(
        self, url: str, form: Mapping[str, str], *, authorization: str | None = None
    ) -> HttpAnswer:
        """Send a form."""
        with self.span("POST", url) as span:
            answer = await self.http.post(url, form, authorization=authorization)
            note_status(span, answer.status)
            return answer
