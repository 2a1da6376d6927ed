"""The gate: what happens to every request, whichever lane it comes by, in this order and in one place."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager
from functools import partial
from http import HTTPStatus
from random import getrandbits
from time import perf_counter
from typing import Any, TypeVar, cast

import msgspec
import structlog
from aiohttp import HttpVersion11, web
from multidict import istr

from service.events.event import Emit
from service.events.timings import FIRST_LOGGED_STATUS, EmitAtOnce, RequestAnswered
from service.model.request_context import CurrentRequest, current_request
from service.protocol.errors import InvalidRequest, OAuthError, ServerError, unforeseen_error
from service.web.admission import reason_to_refuse
from service.web.cors import Cors
from service.web.endpoint import (
    NOSNIFF,
    Answer,
    Direct,
    DirectRoutes,
    Fields,
    Message,
    WholeRequest,
    json_answer,
)
from service.web.proxy import OPERATIONS, Mount
from service.webhooks.queueing import EventQueue

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
DirectHandler = Callable[[Message], Awaitable[Answer]]
Answered = Answer | web.StreamResponse
A = TypeVar("A", bound=Answered)

COMMANDS = 2
"""Store time of a whole request, as a multiple of one command's time-out."""

REQUEST_ID = "X-Request-ID"
_GIVEN_ID = istr(REQUEST_ID)

UNROUTED = "other"
"""The endpoint of a request that met no route, because the caller may have made up its path."""

ENDPOINT = web.RequestKey("endpoint", str)
"""The route that aiohttp found, as log and metrics name it."""

_PROTECTION = {
    NOSNIFF: "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}

_REQUEST_ID_FORMAT = re.compile(r"[A-Za-z0-9._-]{1,64}")

log = structlog.stdlib.get_logger(__name__)


class SecurityHeaders:
    """Adds the headers that protect browsers, unless the endpoint has set its own."""

    def __init__(self, *, is_https: bool) -> None:
        always = {"Server": "token-service"}  # instead of the versions that aiohttp names
        if is_https:
            always["Strict-Transport-Security"] = "max-age=31536000"
        self.always = Fields(always)
        """The header fields of every answer."""

    def add(self, headers: MutableMapping[str, str]) -> None:
        """Add what is missing; an answer without a caching rule must not be stored (RFC 9111 §5.2.2.5)."""
        if NOSNIFF not in headers:  # an endpoint that sets this one sets the others, too
            for name, value in _PROTECTION.items():
                headers.setdefault(name, value)
        if "Cache-Control" not in headers:
            headers["Cache-Control"] = "no-store"
            headers["Pragma"] = "no-cache"
        headers.update(self.always.headers)


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """Gives a request its id and limits, turns errors into answers, and emits an event.

    One function costs less than a middleware or a signal for each step, and can be read from top to
    bottom (docs/performance.md).
    """

    direct: DirectRoutes
    """The fast lane's routes; aiohttp's router finds all others."""
    mount: Mount
    cors: Cors
    security_headers: SecurityHeaders
    draining: asyncio.Event
    max_body_bytes: int
    store_timeout: float
    """Seconds that one command of the store may take."""
    find_caller: Callable[[Message], str]
    """Finds the caller's address for what counts by it."""
    emit: Emit
    event_queue: EventQueue | None
    """Takes the events of a request before its answer is sent; None without webhooks."""
    span: Callable[[str, Mapping[str, str]], AbstractContextManager[None]] | None
    """Traces a request, by its method and headers; None if nothing is traced."""
    emit_at_once: EmitAtOnce | None
    """For answers that get no line in the log; None where each request is traced or gets a line, so that none may be given at once."""

    async def answer(self, request: web.Request, route: Handler) -> web.StreamResponse:
        """Answer a request that aiohttp has read; `route` finds the handlers that are not direct."""
        answering = self._answer_routed(request, route)
        if (
            self.span is None or request.rel_url.raw_path in OPERATIONS
        ):  # machines ask every few seconds
            return await answering
        return await _trace(self.span(request.method, request.headers), answering)

    def answer_whole(self, request: WholeRequest, route: Direct) -> Answer | Awaitable[Answer]:
        """Answer a request of the fast lane by its route; at once what waits for nothing."""
        if self.emit_at_once is not None and route.at_once is not None:
            started, found = perf_counter(), route.at_once(request)
            if found is not None:
                answer, event = found
                self._finish(answer.headers, _request_id(request))
                labels = (route.path, request.method, answer.status)
                self.emit_at_once(event, labels, perf_counter() - started)
                return answer
        answering = self._guard(request, request.path, route.handler, endpoint=route.path)
        if self.span is None:
            return answering
        return _trace(self.span(request.method, request.headers), answering)

    async def _answer_routed(self, request: web.Request, route: Handler) -> web.StreamResponse:
        path = request.rel_url.raw_path
        handler: Callable[[web.Request], Awaitable[Answered]] = route
        direct = self.direct.find(request.method, path)
        refused = reason_to_refuse(request, is_routed=direct is None)
        if refused is not None:
            handler = partial(_refuse, refused, direct)
        elif direct is not None:
            handler = partial(_call_direct, direct.handler)
        elif request.method == "OPTIONS" and self.cors.is_preflight(path, request):
            handler = self.cors.answer_preflight
        answered = await self._guard(request, path, handler, endpoint=direct and direct.path)
        response = answered.for_aiohttp() if isinstance(answered, Answer) else answered
        self.security_headers.add(response.headers)
        if refused is not None or "Connection" in response.headers:
            response.force_close()
        return response

    async def _guard(
        self,
        request: Message,
        path: str,
        handler: Callable[[Any], Awaitable[A]],
        *,
        endpoint: str | None,
    ) -> A | Answer:
        started, request_id = perf_counter(), _request_id(request)
        seconds = COMMANDS * self.store_timeout
        current_request.set(CurrentRequest(request_id, seconds, request, self.find_caller))
        try:
            answered: A | Answer = await handler(request)
        except OAuthError as error:
            answered = _error_answer(error)
        except web.HTTPException as error:
            answered = _http_error(error)
        except Exception:
            log.exception("unforeseen error")
            answered = _error_answer(unforeseen_error())
        if self.event_queue is not None and self.event_queue.pending:
            await self.event_queue.settle()
        self._finish(answered.headers, request_id)
        undecided = self.cors.add_headers(path, request, answered.headers)
        if undecided is not None:
            await self.cors.add_registered(path, undecided, answered.headers)
        named: str = endpoint or cast("web.Request", request).get(ENDPOINT, UNROUTED)
        self._emit(request, named, answered.status, started)
        return answered

    def _finish(self, headers: MutableMapping[str, str], request_id: str) -> None:
        """Add the header fields of every answer."""
        headers[REQUEST_ID] = request_id
        if self.draining.is_set():
            headers["Connection"] = "close"  # the next request goes to another replica

    def _emit(self, request: Message, endpoint: str, status: int, started: float) -> None:
        seconds = perf_counter() - started
        if self.emit_at_once is not None and status < FIRST_LOGGED_STATUS:
            self.emit_at_once(None, (endpoint, request.method, status), seconds)
            return
        self.emit(
            RequestAnswered(
                method=request.method, endpoint=endpoint, status=status, seconds=seconds
            )
        )


def _error_answer(error: OAuthError) -> Answer:
    """Return status, code and description as JSON (RFC 6749 §5.2)."""
    content = {**error.members, "error": error.code, "error_description": error.description}
    return json_answer(content, status=error.status, headers=dict(error.headers))


def _http_error(error: web.HTTPException) -> Answer:
    """Return aiohttp's error (404, 405, 413) without its text, which may echo the request."""
    headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else None
    return answer_by_status(error.status, headers)


def answer_by_status(status: int, headers: dict[str, str] | None = None) -> Answer:
    """Return an error that says no more than its status and the methods that are allowed, for a request that no endpoint has seen."""
    error = ServerError if status == HTTPStatus.INTERNAL_SERVER_ERROR else InvalidRequest
    description = HTTPStatus(status).phrase
    if headers and "Allow" in headers:
        description = f"the method has to be {' or '.join(headers['Allow'].split(','))}"
    content = {"error": error.code, "error_description": description}
    return json_answer(content, status=status, headers=headers)


GATE: web.AppKey[Gate] = web.AppKey("gate", Gate)


async def _trace(span: AbstractContextManager[None], answering: Awaitable[A]) -> A:
    with span:
        return await answering


def _request_id(request: Message) -> str:
    """Return the id that the caller gave the request, or a new one."""
    given = request.headers.get(_GIVEN_ID)
    return given if given and _REQUEST_ID_FORMAT.fullmatch(given) else new_request_id()


def new_request_id() -> str:
    return getrandbits(64).to_bytes(8).hex()  # it is no secret


async def _refuse(reason: web.HTTPException, direct: Direct | None, _: web.Request) -> Answer:
    if direct is not None and direct.refuse is not None:
        return direct.refuse()
    raise reason


async def _call_direct(direct: DirectHandler, request: web.Request) -> Answer:
    """Ask first for a body that the sender holds back, as aiohttp's router does (RFC 9110 §10.1.1)."""
    waits = request.headers.get("Expect", "").lower() == "100-continue"
    if waits and request.version == HttpVersion11 and not request.content.is_eof():
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # counts the answer alone
    return await direct(request)


@web.middleware
async def name_endpoint(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Keep the name of the route that aiohttp's router found."""
    resource = request.match_info.route.resource
    if resource is not None:
        request[ENDPOINT] = resource.canonical
    return await handler(request)
