"""The gate: what happens to every request, whoever answers it, in this order and in one place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

import structlog
from aiohttp import HttpVersion11, web

from service.http.admission import reason_to_refuse
from service.http.answer import Answer
from service.http.cors import Cors, allow
from service.http.draining import Draining
from service.http.errors import error_answer, http_error
from service.http.message import Message, WholeRequest
from service.http.request_id import HEADER, request_id_of
from service.http.security_headers import SecurityHeaders
from service.model.events import Emit, RequestAnswered, current_request_id
from service.protocol.errors import OAuthError, ServerError
from service.store.keyvalue import StoreTime, store_time

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
DirectHandler = Callable[[Message], Awaitable[Answer]]
Answered = Answer | web.StreamResponse
A = TypeVar("A", bound=Answered)

COMMANDS = 2
"""How many times the time-out of one command a whole request may spend in the store."""

MICRO = 1_000_000

UNROUTED = "other"
"""The endpoint of a request that met no route: its path is the caller's invention."""

ENDPOINT = web.RequestKey("endpoint", str)
"""What log and metrics call the route that aiohttp found."""

log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Names a request, bounds it, has it answered, makes its errors an answer, and tells of it.

    One function, and not a middleware or a signal for each, which costs less and can be read from
    top to bottom (docs/performance.md).
    """

    direct: Mapping[tuple[str, str], DirectHandler]
    """Handlers by method and exact path, the fast lane's; all others aiohttp's router finds."""
    cors: Cors
    security_headers: SecurityHeaders
    draining: Draining
    max_body_bytes: int
    """The longest body; what is larger with its head is none of the fast lane's."""
    store_timeout: float
    """Seconds that one command of the store may take."""
    emit: Emit

    async def answer(self, request: web.Request, route: Handler) -> web.StreamResponse:
        """The answer to a request that aiohttp has read; `route` finds what is not direct."""
        path = request.rel_url.raw_path
        handler: Callable[[web.Request], Awaitable[Answered]] = route
        endpoint = None
        refused = reason_to_refuse(request)
        if refused is not None:
            handler = partial(_refuse, refused)
        elif direct := self.direct.get((request.method, path)):
            handler, endpoint = partial(_invited, direct), path
        elif request.method == "OPTIONS" and self.cors.opens(path, request):
            handler = allow
        answered = await self._guarded(request, path, handler, endpoint=endpoint)
        response = answered.for_aiohttp() if isinstance(answered, Answer) else answered
        self.security_headers.add(response.headers)
        if refused is not None or "Connection" in response.headers:
            response.force_close()
        return response

    def answer_whole(self, request: WholeRequest) -> Awaitable[Answer]:
        """The answer to a request of the fast lane, whose path is a direct one."""
        path = request.path
        direct = self.direct[request.method, path]
        return self._guarded(request, path, direct, endpoint=path)

    async def _guarded(
        self,
        request: Message,
        path: str,
        handler: Callable[[Any], Awaitable[A]],
        *,
        endpoint: str | None,
    ) -> A | Answer:
        """What the handler says; never an exception, whatever happens behind the gate."""
        started = perf_counter()
        identifier = request_id_of(request)
        current_request_id.set(identifier)
        store_time.set(StoreTime(COMMANDS * self.store_timeout))
        try:
            answered: A | Answer = await handler(request)
        except OAuthError as error:
            answered = error_answer(error)
        except web.HTTPException as error:
            answered = http_error(error)
        except Exception:
            log.exception("unforeseen error")
            answered = error_answer(ServerError("something unforeseen happened"))
        headers = answered.headers
        headers[HEADER] = identifier
        if self.draining.began:
            headers["Connection"] = (
                "close"  # to another replica with the next request (RFC 9112 §9.6)
            )
        asking = self.cors.add_headers(path, request, headers)
        if asking is not None:
            await self.cors.add_for(asking, headers)
        self.emit(
            RequestAnswered(
                method=request.method,
                endpoint=endpoint or _routed(request),
                status=answered.status,
                seconds=int((perf_counter() - started) * MICRO) / MICRO,
            )
        )
        return answered


async def _refuse(reason: web.HTTPException, _: web.Request) -> web.Response:
    raise reason


async def _invited(direct: DirectHandler, request: web.Request) -> Answer:
    """Ask for a body that waits to be asked for, as aiohttp's router does for its own (RFC 9110 §10.1.1)."""
    waits = request.headers.get("Expect", "").lower() == "100-continue"
    if waits and request.version == HttpVersion11 and not request.content.is_eof():
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # it is of the answer alone
    return await direct(request)


def _routed(request: Message) -> str:
    """The path of the route that aiohttp found, if it found one."""
    return request.get(ENDPOINT, UNROUTED) if isinstance(request, web.Request) else UNROUTED


@web.middleware
async def name_endpoint(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Note which route aiohttp's router found."""
    resource = request.match_info.route.resource
    if resource is not None:
        request[ENDPOINT] = resource.canonical
    return await handler(request)
