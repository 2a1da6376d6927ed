"""What every answer tells a browser, where its endpoint has not said otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import web

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityHeaders:
    """The headers of answers that are no pages; pages bring stricter ones of their own."""

    issuer: str
    _defaults: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        secure = self.issuer.startswith("https:")
        hsts = {"Strict-Transport-Security": "max-age=31536000"} if secure else {}
        object.__setattr__(self, "_defaults", _ALWAYS | hsts)

    def add(self, response: web.StreamResponse) -> None:
        """Add what is missing; an answer that says nothing of caching is not to be kept (RFC 9111 §5.2.2.5)."""
        headers = response.headers
        for name, value in self._defaults.items():
            headers.setdefault(name, value)
        if "Cache-Control" not in headers:
            headers["Cache-Control"] = "no-store"
            headers["Pragma"] = "no-cache"
        headers.popall("Server", None)  # aiohttp's names the versions that run
