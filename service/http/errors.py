"""Turns errors into answers: an OAuthError, and aiohttp's own."""

from __future__ import annotations

from http import HTTPStatus

from aiohttp import web

from service.http.answer import Answer, json_answer
from service.protocol.errors import InvalidRequest, OAuthError


def error_answer(error: OAuthError) -> Answer:
    """Return status, code and description as JSON (RFC 6749 §5.2)."""
    content = {**error.members, "error": error.code, "error_description": error.description}
    return json_answer(content, status=error.status, headers=dict(error.headers))


def http_error(error: web.HTTPException) -> Answer:
    """Return aiohttp's error (404, 405, 413) without its text, which may echo the request."""
    content = {"error": InvalidRequest.code, "error_description": HTTPStatus(error.status).phrase}
    headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else None
    return json_answer(content, status=error.status, headers=headers)
