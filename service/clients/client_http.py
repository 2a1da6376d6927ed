"""Chooses the HTTP client for a client's URLs: unrestricted, or guarded against SSRF (RFC 7591 §5)."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.client import Client
from service.model.outgoing import HttpClient


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientHttp:
    free: HttpClient
    guarded: HttpClient

    def choose(self, client: Client) -> HttpClient:
        return self.guarded if client.dynamically_registered else self.free
