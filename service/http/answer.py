"""What machines are told: a status, a few fields and bytes, ready to be written."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import orjson
from aiohttp import web
from multidict import CIMultiDict


class Fields:
    """Header fields that are the same in every answer of a kind, made once as they go over the wire.

    All of them say how the answer may be cached and that its type is not to be guessed.
    """

    __slots__ = ("headers", "wire")

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self.wire = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])


class Answer(msgspec.Struct):
    """The answer to a request of a machine, whether the fast lane or aiohttp writes it."""

    fields: Fields
    body: bytes
    status: int = 200
    headers: dict[str, str] = {}
    """Those that only this answer has."""

    def for_aiohttp(self) -> web.Response:
        """The same as aiohttp's own."""
        headers = CIMultiDict(self.fields.headers)
        headers.update(self.headers)
        return web.Response(body=self.body, status=self.status, headers=headers)


NO_STORE: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Pragma": "no-cache",
    "X-Content-Type-Options": "nosniff",
}
"""On all that carries tokens, codes, or errors about them (RFC 6749 §5.1)."""

_JSON = Fields({"Content-Type": "application/json", **NO_STORE})
_EMPTY = Fields(NO_STORE)


def json_answer(
    content: Mapping[str, object], *, status: int = 200, headers: dict[str, str] | None = None
) -> Answer:
    """JSON that must not be kept, with further headers where it needs them."""
    return Answer(_JSON, orjson.dumps(content), status, headers or {})


def empty_answer() -> Answer:
    """Nothing but 200."""
    return Answer(_EMPTY, b"")


def jwt_fields(media_type: str) -> Fields:
    """The fields of a JWT that must not be kept."""
    return Fields({"Content-Type": media_type, **NO_STORE})


def document_fields(*, max_age: int) -> Fields:
    """The fields of a public JSON document that caches may keep for `max_age` seconds."""
    return Fields(
        {
            "Content-Type": "application/json",
            "Cache-Control": f"public, max-age={max_age}",
            "X-Content-Type-Options": "nosniff",
        }
    )
