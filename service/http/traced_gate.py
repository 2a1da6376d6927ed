"""The gate within the span of its request, where requests are traced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from aiohttp import web

from service.http.answer import Answer
from service.http.gate import DirectHandler, Gate, Handler
from service.http.message import WholeRequest
from service.http.security_headers import SecurityHeaders

UNTRACED = frozenset({"/health/live", "/health/ready", "/metrics"})
"""What is asked every few seconds, by machines that nobody wants to follow."""


@dataclass(frozen=True, slots=True)
class TracedGate:
    """Answers as the gate does."""

    gate: Gate
    span: Callable[[str, Mapping[str, str]], AbstractContextManager[None]]
    """That of a request, by its method and header fields."""

    @property
    def direct(self) -> Mapping[tuple[str, str], DirectHandler]:
        """What the fast lane serves."""
        return self.gate.direct

    @property
    def security_headers(self) -> SecurityHeaders:
        """What all answers have."""
        return self.gate.security_headers

    @property
    def max_body_bytes(self) -> int:
        """The longest body."""
        return self.gate.max_body_bytes

    async def answer(self, request: web.Request, route: Handler) -> web.StreamResponse:
        """The answer to a request that aiohttp has read."""
        if request.rel_url.raw_path in UNTRACED:
            return await self.gate.answer(request, route)
        with self.span(request.method, request.headers):
            return await self.gate.answer(request, route)

    async def answer_whole(self, request: WholeRequest) -> Answer:
        """The answer to a request of the fast lane."""
        with self.span(request.method, request.headers):
            return await self.gate.answer_whole(request)


GATE: web.AppKey[Gate | TracedGate] = web.AppKey("gate")
"""Where an application keeps its gate, for the server that runs it."""
