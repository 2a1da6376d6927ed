"""Answering through aiohttp: JSON that nobody caches or mistakes for something else, and redirects."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web

from service.http.answer import NO_STORE, json_answer


def json_response(content: Mapping[str, object], *, status: int = 200) -> web.Response:
    """JSON that must not be kept."""
    return json_answer(content, status=status).for_aiohttp()


def see_other(location: str) -> web.Response:
    """A redirect by GET, whatever the request was (RFC 9110 §15.4.4, RFC 9700 §4.12)."""
    return web.Response(
        status=303, headers={**NO_STORE, "Location": location, "Referrer-Policy": "no-referrer"}
    )
