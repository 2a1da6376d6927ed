"""Asking others over HTTP, as everything below `web` sees it: no client library, no connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class Unreachable(Exception):
    """No usable answer came: refused, too late, too long; the message is for the log."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What came back, whatever its status."""

    status: int
    body: bytes


class HttpClient(Protocol):
    """Follows no redirect, waits and reads only so long, and raises Unreachable."""

    async def get(self, url: str, *, authorization: str | None = None) -> HttpAnswer:
        """Fetch something; `authorization` is the header's whole value."""
        ...

    async def post(
        self, url: str, form: Mapping[str, str], *, authorization: str | None = None
    ) -> HttpAnswer:
        """Send a form."""
        ...
