"""The ways to the URLs of clients and APIs."""

from __future__ import annotations

import msgspec

from service.model.outgoing import HttpClient
from service.model.registry import KeyOwner


class ClientHttp(msgspec.Struct, frozen=True, kw_only=True):
    """The HTTP clients for the URLs of clients and APIs: unrestricted, or guarded against SSRF (RFC 7591 §5)."""

    free: HttpClient
    guarded: HttpClient

    def choose(self, owner: KeyOwner) -> HttpClient:
        return self.guarded if owner.dynamically_registered else self.free
