"""The HTTP client for URLs of clients that registered themselves: https, and only where the policy lets it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from yarl import URL

from service.model.outgoing import HttpAnswer, Unreachable
from service.outgoing.addresses import AddressPolicy
from service.outgoing.guarded_names import GuardedNames
from service.outgoing.http_client import Outgoing

PER_HOST = 5
"""Requests to one host at once: keys, a sector document, request objects, and two logouts."""


class GuardedOutgoing:
    """As `Outgoing`, within an address policy; without TLS only to what the operator allows by name."""

    def __init__(self, *, timeout: float, ca_file: Path | None, policy: AddressPolicy) -> None:
        """Take the limits and the policy."""
        names = GuardedNames()
        self._by_https, self._by_http = (
            Outgoing(
                timeout=timeout, ca_file=ca_file, permits=permits, per_host=PER_HOST, names=names
            )
            for permits in (policy.allows, policy.exempts)
        )

    async def get(self, url: str, *, authorization: str | None = None) -> HttpAnswer:
        """Fetch something."""
        return await self._way_to(url).get(url, authorization=authorization)

    async def post(
        self, url: str, form: Mapping[str, str], *, authorization: str | None = None
    ) -> HttpAnswer:
        """Send a form."""
        return await self._way_to(url).post(url, form, authorization=authorization)

    async def close(self) -> None:
        """Give the connections back."""
        await self._by_https.close()
        await self._by_http.close()

    def _way_to(self, url: str) -> Outgoing:
        try:
            return self._by_https if URL(url).scheme == "https" else self._by_http
        except ValueError as error:
            raise Unreachable("the URL is none") from error
