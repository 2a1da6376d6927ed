"""Reads the parameters of a request: decoded once, and from the body or the query only."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from aiohttp import web
from multidict import istr

from service.protocol.errors import (
    ContentTooLarge,
    InvalidRequest,
    RequestTimeout,
    UnsupportedMediaType,
)
from service.protocol.json_input import JsonRefused, parse_unambiguous_json, require_object
from service.protocol.params import REPEATABLE, Params
from service.web.endpoint import Message, WholeRequest, raw_query

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"

_CONTENT_TYPE, _CONTENT_ENCODING = istr("Content-Type"), istr("Content-Encoding")

MAX_CONTENT_TYPE_LENGTH = 256

BODY_SECONDS = 30
"""Until the whole body has arrived."""


async def form_params(request: Message, *, repeatable: frozenset[str] = REPEATABLE) -> Params:
    """Return the parameters of a form body, each sent once and within its limit (RFC 6749 §3.2)."""
    _check_media_type(request, FORM)
    params = _form(await _body(request))
    params.refuse_repeated(repeatable)
    params.refuse_too_long()
    return params


async def raw_form_params(request: Message) -> Params:
    """Return the parameters of a form body as they were sent (RFC 6749 appendix B)."""
    _check_media_type(request, FORM)
    return _form(await _body(request))


def _form(body: bytes) -> Params:
    try:
        return Params.parse(body.decode())
    except UnicodeDecodeError as error:
        raise InvalidRequest("the body is not UTF-8") from error


async def json_object(request: Message) -> Mapping[str, object]:
    """Return the members of a JSON body, each sent once (RFC 7591 §3.1, RFC 8259 §4)."""
    _check_media_type(request, JSON)
    body = await _body(request)
    try:
        return require_object(parse_unambiguous_json(body))
    except JsonRefused as refused:
        raise InvalidRequest(f"the body {refused}") from refused


def query_params(request: Message) -> Params:
    return Params.parse(raw_query(request))


def media_type(request: Message) -> str:
    """Return the media type of the body without parameters; aiohttp's parser takes quadratic time (RFC 9110 §8.3.1)."""
    content_type = request.headers.get(_CONTENT_TYPE, "")
    if len(content_type) > MAX_CONTENT_TYPE_LENGTH:
        raise UnsupportedMediaType(
            f"the Content-Type is longer than {MAX_CONTENT_TYPE_LENGTH} characters"
        )
    return content_type.partition(";")[0].strip().lower()


def _check_media_type(request: Message, wanted: str) -> None:
    # Nearly always the header has no parameters, and needs no parsing.
    if request.headers.get(_CONTENT_TYPE) != wanted and media_type(request) != wanted:
        raise UnsupportedMediaType(f"the body has to be {wanted}")
    if _CONTENT_ENCODING in request.headers:
        raise UnsupportedMediaType("the body has to be sent without a content coding")


async def _body(request: Message) -> bytes:
    if isinstance(request, WholeRequest):
        return request.body
    try:
        if request.content.is_eof():  # nearly always all of it is here, and no timer is needed
            return await request.read()
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise ContentTooLarge("the body is too large") from error
    except TimeoutError as error:
        close = {"Connection": "close"}  # what may still come is no request
        raise RequestTimeout("the body did not come in time", headers=close) from error
    except (web.RequestPayloadError, ConnectionError) as error:
        raise InvalidRequest("the body is malformed or ends too early") from error
