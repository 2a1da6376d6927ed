"""Fetches the metadata and keys of identity providers when they are needed, and keeps them for a while."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from service.caching import BoundedCache, SingleFlight
from service.identity.providers.provider import (
    ProviderMetadata,
    ProviderUnavailable,
    parse_metadata,
    read_body,
)
from service.keys.foreign_keys import ForeignKeys, verify_foreign
from service.keys.jose import VerifiedClaims
from service.model.outgoing import HttpClient

WELL_KNOWN = "/.well-known/openid-configuration"

LIFETIME = 3600
"""Seconds until metadata and keys are fetched again."""

PAUSE = 30
"""Seconds between two requests that an unknown key id or a failure causes."""

MAX_PROVIDERS = 1000

ID_TOKEN_TYPES = frozenset({"jwt", "application/jwt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProvider:
    """The metadata and keys of a provider as they were fetched."""

    metadata: ProviderMetadata
    keys: ForeignKeys
    renewable_from: int = 0
    """Before this time an unknown key id causes no request, however often it is sent."""

    def verify(self, id_token: str) -> VerifiedClaims:
        """Return the claims, or raise JwtRefused if the provider did not sign them (OIDC Core §3.1.3.7)."""
        algorithms = self.metadata.algorithms
        return verify_foreign(id_token, self.keys, algorithms=algorithms, typ=ID_TOKEN_TYPES)


class ProviderDirectory:
    """Fetches each provider's metadata once for all who need it at the same time."""

    def __init__(self, *, http: HttpClient, now: Callable[[], int]) -> None:
        self._http = http
        self._now = now
        self._known: BoundedCache[str, KnownProvider] = BoundedCache(MAX_PROVIDERS, now=now)
        self._fetches: SingleFlight[str, KnownProvider] = SingleFlight()

    async def find(self, issuer: str) -> KnownProvider:
        """Return the provider, as it was before if it is away; ProviderUnavailable if it never answered."""
        known = self._known.get(issuer)
        if known is not None:
            return known
        try:
            found = await self._fetches.run(issuer, lambda: self._fetch(issuer))
        except ProviderUnavailable:
            known = self._known.get_stale(issuer)
            if known is None:
                raise
            self._known.put(issuer, known, seconds=PAUSE)
            return known
        self._known.put(issuer, found, seconds=LIFETIME)
        return found

    async def find_renewed(self, known: KnownProvider) -> KnownProvider:
        """Return the provider with its present keys, unless an unknown key id has just caused a request."""
        if self._now() < known.renewable_from:
            return known
        issuer = known.metadata.issuer
        found = await self._fetches.run(issuer, lambda: self._fetch(issuer))
        renewed = replace(found, renewable_from=self._now() + PAUSE)
        self._known.put(issuer, renewed, seconds=LIFETIME)
        return renewed

    async def _fetch(self, issuer: str) -> KnownProvider:
        url, source = issuer.rstrip("/") + WELL_KNOWN, "metadata or keys"
        metadata = parse_metadata(await read_body(self._http.fetch(url), source), issuer=issuer)
        try:
            keys = ForeignKeys.parse(await read_body(self._http.fetch(metadata.jwks_uri), source))
        except ValueError as error:
            raise ProviderUnavailable("its keys cannot be understood") from error
        return KnownProvider(metadata=metadata, keys=keys)
