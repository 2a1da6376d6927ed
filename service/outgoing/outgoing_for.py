"""A way out for one purpose: what is fetched there, and how long the other end takes for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic

from service.model.events import Emit
from service.model.outgoing import HttpAnswer, HttpClient
from service.model.timings import OthersAnswered


@dataclass(frozen=True, slots=True)
class OutgoingFor:
    """As the client behind it, and tells how long each request took."""

    purpose: str
    http: HttpClient
    timed: Emit

    async def get(self, url: str, *, authorization: str | None = None) -> HttpAnswer:
        """Fetch something."""
        began = monotonic()
        try:
            return await self.http.get(url, authorization=authorization)
        finally:
            self.timed(OthersAnswered(self.purpose, monotonic() - began))

    async def post(
        self, url: str, form: Mapping[str, str], *, authorization: str | None = None
    ) -> HttpAnswer:
        """Send a form."""
        began = monotonic()
        try:
            return await self.http.post(url, form, authorization=authorization)
        finally:
            self.timed(OthersAnswered(self.purpose, monotonic() - began))
