"""Which request is this? The id that the answer, the logs, the audit events and the error page share."""

from __future__ import annotations

import re
from random import getrandbits

from aiohttp import web
from aiohttp.typedefs import Handler

from service.model.events import current_request_id

HEADER = "X-Request-ID"

_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_ID = web.RequestKey("request_id", str)


@web.middleware
async def request_ids(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Name the request before anything else happens."""
    current_request_id.set(_of(request))
    return await handler(request)


async def add_request_id(request: web.Request, response: web.StreamResponse) -> None:
    """Put the id on every answer, also on those that no handler made."""
    response.headers[HEADER] = _of(request)


def request_id() -> str:
    """The id of the request that is being answered, for the error page."""
    return current_request_id.get() or ""


def new_request_id() -> str:
    """An id that nobody else has; it is no secret, so it need not be drawn by the kernel."""
    return f"{getrandbits(64):016x}"


def _of(request: web.Request) -> str:
    """The caller's own id where it is sane, else one that is made once."""
    known = request.get(_ID)
    if known is None:
        known = request[_ID] = _taken_from(request) or new_request_id()
    return known


def _taken_from(request: web.Request) -> str | None:
    given = request.headers.get(HEADER, "")
    return given if _SANE.fullmatch(given) else None
