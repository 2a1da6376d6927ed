"""GET /.well-known/jwks.json: the keys that our signatures verify with (RFC 7517 §5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aiohttp import web

from service.keys.keyring import KeyRing
from service.web.message import Message
from service.web.respond import document, document_headers

PATH = "/.well-known/jwks.json"
MAX_AGE = 300
"""Seconds that a cache may keep it; much shorter than keys are announced before they sign."""

_HEADERS = document_headers(max_age=MAX_AGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class JwksEndpoint:
    """Publishes announced, signing and retired keys, from memory."""

    keys: KeyRing

    def routes(self) -> Iterable[web.RouteDef]:
        """GET, and HEAD by aiohttp."""
        return (web.get(PATH, self.jwks),)

    def metadata(self) -> Mapping[str, object]:
        """Where it is."""
        return {"jwks_uri": PATH}

    async def jwks(self, request: Message) -> web.Response:
        """The key set, as bytes made when the keys last changed."""
        return document(self.keys.public_jwks(), _HEADERS)
