"""The interface of outgoing HTTP requests; `outgoing/` implements it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from service.model.registry import KeyOwner


class Unreachable(Exception):
    """No usable answer came: refused, too late, too long; the message is for the log."""


class HttpAnswer(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """By names as in RFC 9110, in whatever capitals the server wrote them."""


class HttpRequest(msgspec.Struct, frozen=True):
    """A GET request, or a POST of a form or of another body, whose type is in the headers."""

    uri: str
    content: Mapping[str, str] | bytes | None = None
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    authorization: str | None = None
    """The header's whole value."""
    reads_answer: bool = True
    """False leaves the body of the answer unread, because the status alone counts."""

    @property
    def method(self) -> str:
        return "GET" if self.content is None else "POST"


class ClientCertificate(msgspec.Struct, frozen=True):
    """The certificate by which the service authenticates to another server (RFC 8446 §4.4.2); files in PEM."""

    certificate: Path
    private_key: Path


class HttpClient(Protocol):
    """Follows no redirect, limits time and size, and raises Unreachable."""

    async def fetch(self, request: HttpRequest) -> HttpAnswer: ...


class ClientHttp(msgspec.Struct, frozen=True, kw_only=True):
    """The HTTP clients for the URLs of clients and APIs: unrestricted, or guarded against SSRF (RFC 7591 §5)."""

    free: HttpClient
    guarded: HttpClient

    def choose(self, owner: KeyOwner) -> HttpClient:
        return self.guarded if owner.dynamically_registered else self.free
