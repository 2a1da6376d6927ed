"""The interface of outgoing HTTP requests; `outgoing/` implements it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


class Unreachable(Exception):
    """No usable answer came: refused, too late, too long; the message is for the log."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """By names as in RFC 9110, in whatever capitals the server wrote them."""


@dataclass(frozen=True, slots=True)
class HttpBody:
    content_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """The certificate by which the service authenticates to another server (RFC 8446 §4.4.2); files in PEM."""

    certificate: Path
    private_key: Path


class HttpClient(Protocol):
    """Follows no redirect, limits time and size, and raises Unreachable."""

    async def fetch(
        self,
        url: str,
        form: Mapping[str, str] | HttpBody | None = None,
        *,
        authorization: str | None = None,
    ) -> HttpAnswer:
        """Send a GET request, or a form or other body by POST; `authorization` is the header's whole value."""
        ...
