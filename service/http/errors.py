"""The one place where an OAuthError, or anything unforeseen, becomes an HTTP response."""

from __future__ import annotations

from http import HTTPStatus

from aiohttp import web

from service.http.answer import Answer, json_answer
from service.protocol.errors import (
    InvalidRequest,
    OAuthError,
    TemporarilyUnavailable,
    TooManyRequests,
)

RETRY_AFTER = 5
"""Seconds after which a caller may try again when the store is away."""


def error_answer(error: OAuthError) -> Answer:
    """The error's status, code and description, as JSON (RFC 6749 §5.2)."""
    content = {**error.members, "error": error.code, "error_description": error.description}
    return json_answer(content, status=error.status, headers=error_headers(error))


def error_headers(error: OAuthError) -> dict[str, str]:
    """When to come back, and how to identify oneself (RFC 9110 §10.2.3, §11.6.1)."""
    headers: dict[str, str] = {}
    if error.challenge is not None:
        headers["WWW-Authenticate"] = error.challenge
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str(error.retry_after)
    elif isinstance(error, TemporarilyUnavailable):
        headers["Retry-After"] = str(RETRY_AFTER)
    return headers


def http_error(error: web.HTTPException) -> Answer:
    """aiohttp's own refusals (404, 405, 413) without its text, which may echo the request."""
    answer = json_answer(
        {"error": InvalidRequest.code, "error_description": HTTPStatus(error.status).phrase},
        status=error.status,
    )
    if "Allow" in error.headers:
        answer.headers["Allow"] = error.headers["Allow"]
    return answer
