"""Answers to machines: a status, header fields and a body, which both lanes can write."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import orjson
from aiohttp import web
from multidict import CIMultiDict


class Fields:
    """Header fields that all answers of a kind share, with how they go over the wire.

    They always include a caching rule and `nosniff`.
    """

    __slots__ = ("headers", "wire")

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self.wire = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])


class Answer(msgspec.Struct):
    fields: Fields
    body: bytes
    status: int = 200
    headers: dict[str, str] = {}
    """The fields of this answer alone."""

    def for_aiohttp(self) -> web.Response:
        headers = CIMultiDict(self.fields.headers)
        headers.update(self.headers)
        return web.Response(body=self.body, status=self.status, headers=headers)


_NOSNIFF = {"X-Content-Type-Options": "nosniff"}
NO_STORE: Mapping[str, str] = {"Cache-Control": "no-store", "Pragma": "no-cache", **_NOSNIFF}
"""For tokens, codes, and errors about them (RFC 6749 §5.1)."""

_JSON = Fields({"Content-Type": "application/json", **NO_STORE})
_EMPTY = Fields(NO_STORE)


def json_answer(
    content: Mapping[str, object], *, status: int = 200, headers: dict[str, str] | None = None
) -> Answer:
    return Answer(_JSON, orjson.dumps(content), status, headers or {})


def empty_answer() -> Answer:
    return Answer(_EMPTY, b"")


def jwt_fields(media_type: str) -> Fields:
    return Fields({"Content-Type": media_type, **NO_STORE})


def document_fields(*, max_age: int) -> Fields:
    """Return the fields of a public JSON document that caches may keep for so many seconds."""
    caching = {"Cache-Control": f"public, max-age={max_age}"}
    return Fields({"Content-Type": "application/json", **caching, **_NOSNIFF})


def see_other(location: str) -> web.Response:
    """Redirect by GET, whatever the method of the request was (RFC 9110 §15.4.4, RFC 9700 §4.12)."""
    headers = {**NO_STORE, "Location": location, "Referrer-Policy": "no-referrer"}
    return web.Response(status=303, headers=headers)
