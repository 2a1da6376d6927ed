"""Finds the keys of trusted issuers: registered, behind `jwks_uri`, or named by their metadata (RFC 8414 §3, OpenID Connect Discovery §4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from urllib.parse import urlsplit

import msgspec
import structlog
from msgspec.structs import replace

from service.caching import BoundedCache
from service.clients.published_keys import LIFETIME, PAUSE, PublishedKeys
from service.keys.jose import JwtRefused, VerifiedClaims
from service.model.outgoing import HttpClient, HttpRequest, Unreachable
from service.model.registry import Issuer
from service.protocol.json_input import parse_json
from service.single_flight import SingleFlight

log = structlog.stdlib.get_logger(__name__)

MAX_ISSUERS = 1000


class _Metadata(msgspec.Struct, frozen=True):
    issuer: str
    jwks_uri: str


class _Found(msgspec.Struct, frozen=True):
    jwks_uri: str | None
    """None if the metadata could not be read."""


class IssuerKeys:
    """Reads the metadata of each issuer once for all who need it at the same time."""

    def __init__(self, *, published: PublishedKeys, http: HttpClient) -> None:
        self._published = published
        self._http = http
        self._found: BoundedCache[str, _Found] = BoundedCache(MAX_ISSUERS)
        self._fetches: SingleFlight[str, _Found] = SingleFlight()

    async def verify(
        self, token: str, header: Mapping[str, object], issuer: Issuer
    ) -> VerifiedClaims:
        """Return the claims of a JWT with this accepted header; JwtRefused if the issuer did not sign it."""
        if issuer.jwks is None and issuer.jwks_uri is None:
            issuer = replace(issuer, jwks_uri=await self._find_jwks_uri(str(issuer.issuer)))
        return await self._published.verify(token, header, issuer)

    async def _find_jwks_uri(self, issuer: str) -> str:
        found = self._found.get(issuer)
        if found is None:
            found = await self._fetches.run(issuer, lambda: self._fetch(issuer))
        if found.jwks_uri is None:
            raise JwtRefused("the metadata of its issuer cannot be read")
        return found.jwks_uri

    async def _fetch(self, issuer: str) -> _Found:
        """Read the metadata at the first place that has them; after a failure, what was read before counts a little longer."""
        reasons: list[str] = []
        for url in metadata_urls(issuer):
            try:
                found = _Found(await self._read_jwks_uri(url, issuer))
            except (Unreachable, ValueError) as error:
                reasons.append(f"{url}: {error}")
            else:
                self._found.put(issuer, found, seconds=LIFETIME)
                return found
        log.warning("the metadata of an issuer cannot be read", issuer=issuer, reasons=reasons)
        found = self._found.get_stale(issuer) or _Found(None)
        self._found.put(issuer, found, seconds=PAUSE)
        return found

    async def _read_jwks_uri(self, url: str, issuer: str) -> str:
        """Return the `jwks_uri` in the issuer's own metadata, as safe as the issuer's URL (RFC 8414 §3.3)."""
        answer = await self._http.fetch(HttpRequest(url))
        if answer.status != HTTPStatus.OK:
            raise Unreachable(f"status {answer.status}")
        metadata = msgspec.convert(parse_json(answer.body), _Metadata)
        if metadata.issuer != issuer:
            raise ValueError("it is that of another issuer")
        schemes = ("https://", "http://") if urlsplit(issuer).scheme == "http" else ("https://",)
        if not metadata.jwks_uri.startswith(schemes):
            raise ValueError("its jwks_uri is not https")
        return metadata.jwks_uri


def metadata_urls(issuer: str) -> Iterator[str]:
    """Yield the URLs at which an issuer may publish metadata: that of OAuth, then that of OpenID Connect."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    yield f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{path}"
    yield issuer.rstrip("/") + "/.well-known/openid-configuration"
