"""Adds the headers that protect browsers, unless the endpoint has set its own."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass

NOSNIFF = "X-Content-Type-Options"

_DEFAULTS = {
    NOSNIFF: "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityHeaders:
    is_https: bool

    def add(self, headers: MutableMapping[str, str]) -> None:
        """Add what is missing; an answer without a caching rule must not be stored (RFC 9111 §5.2.2.5)."""
        if NOSNIFF not in headers:  # an endpoint that sets this one sets the others, too
            for name, value in _DEFAULTS.items():
                headers.setdefault(name, value)
        if "Cache-Control" not in headers:
            headers["Cache-Control"] = "no-store"
            headers["Pragma"] = "no-cache"
        headers.update(self._common())

    @property
    def common(self) -> str:
        """The headers of every answer, as they go over the wire."""
        return "".join([f"{name}: {value}\r\n" for name, value in self._common().items()])

    def _common(self) -> Mapping[str, str]:
        server = {"Server": "token-service"}  # instead of the versions that aiohttp names
        return (
            server | {"Strict-Transport-Security": "max-age=31536000"} if self.is_https else server
        )
