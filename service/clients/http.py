"""Which way out is open to a client's URLs? The operator's own may go anywhere, others only where the policy lets them."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.client import Client
from service.model.outgoing import HttpClient


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientHttp:
    """Every request to a URL of a client's registration goes out here."""

    free: HttpClient
    guarded: HttpClient

    def for_(self, client: Client) -> HttpClient:
        """The guarded way for a client that registered itself (RFC 7591 §5)."""
        return self.guarded if client.dynamically_registered else self.free
