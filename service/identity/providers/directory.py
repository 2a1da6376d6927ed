"""The metadata and keys of the providers, fetched when they are needed and kept for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from service.identity.providers.failures import ProviderUnavailable
from service.identity.providers.metadata import WELL_KNOWN, ProviderMetadata, parse_metadata
from service.keys.foreign_keys import ForeignKeys, verify_foreign
from service.keys.jose import VerifiedClaims
from service.model.outgoing import HttpClient, Unreachable

LIFETIME = 3600
"""Seconds for which metadata and keys are taken as they were read."""

PAUSE = 30
"""Seconds between two attempts that an answer with an unknown key, or a provider's absence, causes."""

ID_TOKEN_TYPES = frozenset({"jwt", "application/jwt"})
OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProvider:
    """What was read, and when to read again."""

    metadata: ProviderMetadata
    keys: ForeignKeys
    fresh_until: int
    renewable_from: int = 0
    """An unknown key before this moment causes no request, whoever sends it how often."""

    def verify(self, id_token: str) -> VerifiedClaims:
        """What the provider signed; JwtRefused where it did not (OIDC Core §3.1.3.7)."""
        algorithms = self.metadata.algorithms
        return verify_foreign(id_token, self.keys, algorithms=algorithms, typ=ID_TOKEN_TYPES)


class ProviderDirectory:
    """One attempt at a time for each provider; who comes meanwhile waits for the same one."""

    def __init__(self, *, http: HttpClient, now: Callable[[], int]) -> None:
        """Take the way out and the clock."""
        self._http = http
        self._now = now
        self._known: dict[str, KnownProvider] = {}
        self._fetching: dict[str, asyncio.Task[KnownProvider]] = {}

    async def find(self, issuer: str) -> KnownProvider:
        """The provider, as it was before where it is away; ProviderUnavailable where it never was."""
        known = self._known.get(issuer)
        if known is not None and self._now() < known.fresh_until:
            return known
        try:
            found = await self._fetched(issuer)
        except ProviderUnavailable:
            if known is None:
                raise
            found = replace(known, fresh_until=self._now() + PAUSE)
        self._known[issuer] = found
        return found

    async def find_renewed(self, known: KnownProvider) -> KnownProvider:
        """The provider with the keys that it publishes now, if it was not asked just before."""
        if self._now() < known.renewable_from:
            return known
        found = await self._fetched(known.metadata.issuer)
        renewed = replace(found, renewable_from=self._now() + PAUSE)
        self._known[known.metadata.issuer] = renewed
        return renewed

    async def _fetched(self, issuer: str) -> KnownProvider:
        fetching = self._fetching.get(issuer)
        if fetching is None:
            fetching = asyncio.create_task(self._fetch(issuer))
            self._fetching[issuer] = fetching
            fetching.add_done_callback(lambda _: self._fetching.pop(issuer))
        return await asyncio.shield(fetching)

    async def _fetch(self, issuer: str) -> KnownProvider:
        metadata = parse_metadata(await self._read(issuer.rstrip("/") + WELL_KNOWN), issuer=issuer)
        try:
            keys = ForeignKeys.parse(await self._read(metadata.jwks_uri))
        except ValueError as error:
            raise ProviderUnavailable("its keys cannot be understood") from error
        return KnownProvider(metadata=metadata, keys=keys, fresh_until=self._now() + LIFETIME)

    async def _read(self, url: str) -> bytes:
        try:
            answer = await self._http.get(url)
        except Unreachable as error:
            raise ProviderUnavailable(f"its metadata or keys: {error}") from error
        if answer.status != OK:
            raise ProviderUnavailable(f"its metadata or keys: status {answer.status}")
        return answer.body
