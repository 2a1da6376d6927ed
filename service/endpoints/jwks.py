"""GET /.well-known/jwks.json: the keys to verify signatures with, and to encrypt to (RFC 7517 §5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from service.http.answer import Answer, document_fields
from service.http.endpoint import ANY_ORIGIN, Direct, Route
from service.http.message import Message
from service.keys.keyring import KeyRing

PATH = "/.well-known/jwks.json"
MAX_AGE = 300
"""Seconds; much shorter than the time from a key's announcement to its first signature."""

_FIELDS = document_fields(max_age=MAX_AGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class JwksEndpoint:
    keys: KeyRing

    def routes(self) -> Iterable[Route]:
        return (Direct("GET", PATH, self.jwks, head=True, scripts=ANY_ORIGIN),)

    def metadata(self) -> Mapping[str, object]:
        return {"jwks_uri": PATH}

    async def jwks(self, _: Message) -> Answer:
        return Answer(_FIELDS, self.keys.public_jwks())
