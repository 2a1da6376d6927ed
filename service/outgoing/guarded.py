"""The HTTP client for URLs of dynamically registered clients: https, and only to allowed addresses (RFC 7591 §5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from yarl import URL

from service.model.outgoing import HttpAnswer, Unreachable
from service.outgoing.addresses import AddressPolicy
from service.outgoing.guarded_resolver import GuardedResolver
from service.outgoing.http_client import OutgoingHttp

PER_HOST = 5
"""Requests to one host at once: keys, a sector document, request objects, and two logouts."""


class GuardedHttp:
    """An `OutgoingHttp` within an address policy; without TLS only to networks that the operator names."""

    def __init__(self, *, timeout: float, ca_file: Path | None, policy: AddressPolicy) -> None:
        resolver = GuardedResolver()
        self._by_https, self._by_http = (
            OutgoingHttp(
                timeout=timeout,
                ca_file=ca_file,
                permits=permits,
                per_host=PER_HOST,
                resolver=resolver,
            )
            for permits in (policy.allows, policy.exempts)
        )

    async def fetch(
        self, url: str, form: Mapping[str, str] | None = None, *, authorization: str | None = None
    ) -> HttpAnswer:
        try:
            is_https = URL(url).scheme == "https"
        except ValueError as error:
            raise Unreachable("the URL is malformed") from error
        http = self._by_https if is_https else self._by_http
        return await http.fetch(url, form, authorization=authorization)

    async def close(self) -> None:
        """Close the connections."""
        await self._by_https.close()
        await self._by_http.close()
