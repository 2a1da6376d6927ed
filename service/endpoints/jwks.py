"""GET /.well-known/jwks.json: the keys that our signatures verify with (RFC 7517 §5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from service.http.answer import Answer, document_fields
from service.http.endpoint import ANY_ORIGIN, Direct, Route
from service.http.message import Message
from service.keys.keyring import KeyRing

PATH = "/.well-known/jwks.json"
MAX_AGE = 300
"""Seconds that a cache may keep it; much shorter than keys are announced before they sign."""

_FIELDS = document_fields(max_age=MAX_AGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class JwksEndpoint:
    """Publishes announced, signing and retired keys, and those to encrypt to, from memory."""

    keys: KeyRing

    def routes(self) -> Iterable[Route]:
        return (Direct("GET", PATH, self.jwks, head=True, scripts=ANY_ORIGIN),)

    def metadata(self) -> Mapping[str, object]:
        """Where it is."""
        return {"jwks_uri": PATH}

    async def jwks(self, _: Message) -> Answer:
        """The key set, as bytes made when the keys last changed."""
        return Answer(_FIELDS, self.keys.public_jwks())
