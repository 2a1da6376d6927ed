"""The part of an HTTP request that access tokens, proofs and certificates are read from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from oauth_resource_server.refusals import InvalidRequest, InvalidToken, NoToken

MAX_TOKEN_LENGTH = 51200
"""Characters of an access token; a longer one is refused before any work."""

Scheme = Literal["Bearer", "DPoP"]
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # b64token of RFC 6750 §2.1
_SCHEMES: dict[str, Scheme] = {"bearer": "Bearer", "dpop": "DPoP"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as an adapter hands it over."""

    method: str
    path: str
    """As the client sent it, still percent-encoded, without the query."""
    headers: Sequence[tuple[str, str]]
    """In order, names in lower case."""
    certificate: bytes | None = None
    """The client's certificate of the TLS connection in DER, where this process ends TLS."""
    peer: str | None = None
    """The address that the connection comes from; None for a Unix socket."""

    def find_headers(self, name: str) -> tuple[str, ...]:
        """Return all headers of this name, which is given in lower case."""
        return tuple(value for header, value in self.headers if header == name)

    def read_token(self) -> tuple[Scheme, str]:
        """Return scheme and access token of the Authorization header, the only place that counts (RFC 6750 §2.1)."""
        headers = self.find_headers("authorization")
        if len(headers) > 1:
            raise InvalidRequest("the request has more than one Authorization header")
        scheme, _, token = (headers[0] if headers else "").partition(" ")
        known, token = _SCHEMES.get(scheme.lower()), token.strip(" ")
        if known is None:
            raise NoToken("the request has no access token")
        if not token or len(token) > MAX_TOKEN_LENGTH or not _TOKEN.fullmatch(token):
            raise InvalidToken("the access token is malformed")
        return known, token
