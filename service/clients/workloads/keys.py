"""Finds the keys of platforms whose workloads authenticate here: by metadata, `jwks_uri`, or a SPIFFE trust bundle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from service.caching import BoundedCache
from service.clients.issuer_keys import IssuerKeys
from service.clients.published_keys import LIFETIME, PublishedKeys, read_jwks
from service.keys.foreign_keys import MAX_BYTES, ForeignKeys
from service.keys.jose import VerifiedClaims
from service.model.outgoing import ClientHttp, HttpAnswer, HttpClient, HttpRequest, Unreachable
from service.model.workload import WorkloadIssuer
from service.protocol.json_input import parse_json

MAX_ISSUERS = 100

SHORTEST, LONGEST = 30, 86400
"""Seconds between two fetches of a trust bundle, whatever its `spiffe_refresh_hint` says."""

_Place = tuple[object, ...]


class WorkloadKeys:
    """Each issuer has keys of its own, read by its own authorities and token, and only from where the operator says."""

    def __init__(self, open_http: Callable[[Path | None], HttpClient]) -> None:
        """`open_http` returns the HTTP client that trusts these authorities."""
        self._open_http = open_http
        self._by_place: BoundedCache[_Place, IssuerKeys] = BoundedCache(MAX_ISSUERS)

    async def verify(
        self, token: str, header: Mapping[str, object], issuer: WorkloadIssuer
    ) -> VerifiedClaims:
        """Return the claims of a JWT with this accepted header; JwtRefused if the issuer did not sign it."""
        bundle = issuer.bundle_endpoint_url
        place = (
            issuer.name,
            issuer.issuer,
            issuer.jwks_uri,
            bundle,
            issuer.ca_file,
            issuer.token_file,
        )
        keys = self._by_place.get(place)
        if keys is None:
            keys = self._open(issuer)
            self._by_place.put(place, keys)
        return await keys.verify(
            token, header, issuer if bundle is None else replace(issuer, jwks_uri=bundle)
        )

    def _open(self, issuer: WorkloadIssuer) -> IssuerKeys:
        http = self._open_http(issuer.ca_file)
        if issuer.token_file is not None:
            http = HttpWithToken(http, issuer.token_file)
        read = read_jwks if issuer.bundle_endpoint_url is None else TrustBundle().read
        published = PublishedKeys(ClientHttp(free=http, guarded=http), read=read)
        return IssuerKeys(published=published, http=http)


class HttpWithToken(msgspec.Struct, frozen=True):
    """Sends the token in a file along with each request; the platform writes a new one before it expires."""

    http: HttpClient
    token_file: Path

    async def fetch(self, request: HttpRequest) -> HttpAnswer:
        try:
            token = await asyncio.to_thread(self.token_file.read_text)
        except (OSError, UnicodeDecodeError) as error:
            raise Unreachable(f"the token_file cannot be read: {type(error).__name__}") from error
        return await self.http.fetch(replace(request, authorization=f"Bearer {token.strip()}"))


class _Bundle(msgspec.Struct, frozen=True):
    keys: list[dict[str, object]]
    spiffe_sequence: int | None = None
    spiffe_refresh_hint: int | None = None


class TrustBundle:
    """Reads the bundle of one trust domain; one that is older than the last is refused (SPIFFE Trust Domain and Bundle §4.1)."""

    def __init__(self) -> None:
        self._sequence = 0

    def read(self, body: bytes) -> tuple[ForeignKeys, int]:
        """Return its keys for JWT-SVIDs, and for how many seconds they count; ValueError if it is malformed or old."""
        if len(body) > MAX_BYTES:
            raise ValueError(f"it is longer than {MAX_BYTES} bytes")
        bundle = msgspec.convert(parse_json(body), _Bundle)
        sequence = bundle.spiffe_sequence
        if sequence is not None and sequence < self._sequence:
            raise ValueError("its spiffe_sequence is lower than that of the bundle before")
        named = [key for key in bundle.keys if key.get("use") == "jwt-svid" and key.get("kid")]
        keys = ForeignKeys.from_jwks({"keys": [{**key, "use": "sig"} for key in named]})
        self._sequence = sequence or self._sequence
        hint = bundle.spiffe_refresh_hint or LIFETIME
        return keys, max(SHORTEST, min(hint, LONGEST))
