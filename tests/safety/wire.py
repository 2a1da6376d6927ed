"""Hears everything that two parties tell each other, and picks the credentials out of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from aiohttp import ClientSession, CookieJar, TraceConfig

SHORTEST = 6
"""Characters; what is shorter could stand anywhere."""

PATTERNS = (
    r"\b(?:ac|at|rt|ss|ra)_[A-Za-z0-9_-]{65}",
    r'"client_secret":"([^"]+)"',
    r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+",
    r"eyJ[\w-]+\.eyJ[\w-]+\.([\w-]+)",
    r"Basic ([A-Za-z0-9+/=]+)",
    r"Bearer (\S+)",
    r"Set-Cookie: [^=]+=([^;]+)",
    r'name="csrf" value="([^"]+)"',
)
NAMES = {
    "client_secret",
    "client_assertion",
    "password",
    "code",
    "code_verifier",
    "refresh_token",
    "token",
    "access_token",
    "id_token_hint",
    "csrf",
}


@dataclass
class Wire:
    """Every request and response, as text."""

    heard: list[str] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)

    def session(self) -> ClientSession:
        """A session that is listened to."""
        trace = TraceConfig()
        trace.on_request_start.append(self._asked)
        trace.on_request_chunk_sent.append(self._sent)
        trace.on_request_end.append(self._answered)
        trace.on_response_chunk_received.append(self._received)
        return ClientSession(cookie_jar=CookieJar(unsafe=True), trace_configs=[trace])

    def credentials(self) -> set[str]:
        """All that nobody else may know."""
        text = "\n".join(self.heard)
        found = {one for pattern in PATTERNS for one in re.findall(pattern, text)}
        found |= {value for form in self.forms for name, value in parse_qsl(form) if name in NAMES}
        return {one for one in found if len(one) >= SHORTEST}

    async def _asked(self, _session: Any, _context: Any, params: Any) -> None:
        self.forms.append(params.url.raw_query_string)
        self._headers(params.headers)

    async def _sent(self, _session: Any, _context: Any, params: Any) -> None:
        self.forms.append(params.chunk.decode())

    async def _answered(self, _session: Any, _context: Any, params: Any) -> None:
        self._headers(params.response.headers)
        location = urlsplit(params.response.headers.get("Location", ""))
        self.forms += [location.query, location.fragment]
        self.heard.append(unquote(location.fragment))

    async def _received(self, _session: Any, _context: Any, params: Any) -> None:
        self.heard.append(params.chunk.decode(errors="replace"))

    def _headers(self, headers: Any) -> None:
        self.heard += [f"{name}: {value}" for name, value in headers.items()]
