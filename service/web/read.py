"""Reading requests: parameters decoded once, from the place where they belong."""

from __future__ import annotations

import asyncio

from aiohttp import web

from service.model.credentials import CredentialSource
from service.protocol.errors import ContentTooLarge, InvalidRequest, UnsupportedMediaType
from service.protocol.params import REPEATABLE, Params

FORM = "application/x-www-form-urlencoded"

BODY_SECONDS = 30
"""How long a body may take to arrive."""


async def form_params(request: web.Request, *, repeatable: frozenset[str] = REPEATABLE) -> Params:
    """The parameters of a form body, each sent once and within its limit (RFC 6749 §3.2)."""
    params = await raw_form_params(request)
    params.refuse_repeated(repeatable)
    params.refuse_too_long()
    return params


async def raw_form_params(request: web.Request) -> Params:
    """The parameters of a form body as they were sent (RFC 6749 appendix B)."""
    # The header as it nearly always is, and only otherwise what it means with its parameters.
    if request.headers.get("Content-Type") != FORM and request.content_type != FORM:
        raise UnsupportedMediaType(f"the body has to be {FORM}")
    if "Content-Encoding" in request.headers:
        raise UnsupportedMediaType("the body has to be sent without a content coding")
    try:
        return Params.parse((await _body(request)).decode())
    except UnicodeDecodeError as error:
        raise InvalidRequest("the body is not UTF-8") from error


def query_params(request: web.Request) -> Params:
    """The parameters of the query as they were sent, decoded exactly once."""
    return Params.parse(request.rel_url.raw_query_string)


def credentials(request: web.Request, params: Params, *, now: int) -> CredentialSource:
    """What the request shows to authenticate its sender: the header and the body, never the query."""
    return CredentialSource(
        endpoint=request.path, authorization=authorization(request), params=params, now=now
    )


def authorization(request: web.Request) -> str | None:
    """The Authorization header, which stands once (RFC 9110 §5.3, §11.6.2)."""
    headers = request.headers.getall("Authorization", [])
    if len(headers) > 1:
        raise InvalidRequest("the Authorization header is sent more than once")
    return headers[0] if headers else None


async def _body(request: web.Request) -> bytes:
    try:
        if request.content.is_eof():  # all of it is here, as nearly always: no timer is needed
            return await request.read()
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise ContentTooLarge("the body is too large") from error
    except TimeoutError as error:
        raise InvalidRequest("the body did not come in time") from error
    except (web.RequestPayloadError, ConnectionError) as error:
        raise InvalidRequest("the body is malformed or ends too early") from error
