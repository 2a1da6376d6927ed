"""The one place where an OAuthError, or anything unforeseen, becomes an HTTP response."""

from __future__ import annotations

from http import HTTPStatus

from aiohttp import web

from service.http.answer import Answer, json_answer
from service.protocol.errors import InvalidRequest, OAuthError


def error_answer(error: OAuthError) -> Answer:
    """The error's status, code and description, as JSON (RFC 6749 §5.2)."""
    content = {**error.members, "error": error.code, "error_description": error.description}
    return json_answer(content, status=error.status, headers=dict(error.headers))


def http_error(error: web.HTTPException) -> Answer:
    """aiohttp's own refusals (404, 405, 413) without its text, which may echo the request."""
    answer = json_answer(
        {"error": InvalidRequest.code, "error_description": HTTPStatus(error.status).phrase},
        status=error.status,
    )
    if "Allow" in error.headers:
        answer.headers["Allow"] = error.headers["Allow"]
    return answer
