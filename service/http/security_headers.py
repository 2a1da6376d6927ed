"""What every answer tells a browser, where its endpoint has not said otherwise."""

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
    """Completes answers; those of endpoints and pages bring what they need themselves."""

    secure: bool
    """Whether the issuer is https."""

    def add(self, headers: MutableMapping[str, str]) -> None:
        """Add what is missing; an answer that says nothing of caching is not to be kept (RFC 9111 §5.2.2.5)."""
        if NOSNIFF not in headers:  # whoever has set this has set what else is needed
            for name, value in _DEFAULTS.items():
                headers.setdefault(name, value)
        if "Cache-Control" not in headers:
            headers["Cache-Control"] = "no-store"
            headers["Pragma"] = "no-cache"
        headers.update(self._always())

    @property
    def always(self) -> str:
        """What no answer goes without, as it goes over the wire."""
        return "".join([f"{name}: {value}\r\n" for name, value in self._always().items()])

    def _always(self) -> Mapping[str, str]:
        server = {"Server": "token-service"}  # or aiohttp names the versions that run
        return server | {"Strict-Transport-Security": "max-age=31536000"} if self.secure else server
