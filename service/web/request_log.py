"""What is told of every request: never its query, its body or a header."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from aiohttp import web
from aiohttp.typedefs import Handler

from service.model.events import Emit, RequestAnswered

UNROUTED = "other"
"""The endpoint of a request that met no route: its path is the caller's invention."""


@dataclass(frozen=True, slots=True)
class RequestLog:
    """Emits one event per request."""

    emit: Emit

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Measure the request and tell how it ended."""
        started = perf_counter()
        status = 500  # where the handler raises what is no HTTP answer
        try:
            response = await handler(request)
            status = response.status
        except web.HTTPException as answer:
            status = answer.status
            raise
        finally:
            self.emit(
                RequestAnswered(
                    method=request.method,
                    endpoint=_endpoint(request),
                    status=status,
                    seconds=round(perf_counter() - started, 6),
                )
            )
        return response


def _endpoint(request: web.Request) -> str:
    resource = request.match_info.route.resource
    return UNROUTED if resource is None else resource.canonical
