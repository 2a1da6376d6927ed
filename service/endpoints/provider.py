"""/connect/idp/{name}: what identity providers themselves ask of this service (OIDC Core §10.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aiohttp import web

from service.http.endpoint import Answer, Route, document_fields
from service.identity.providers.credentials import OwnCredentials
from service.identity.providers.provider import ProviderUnavailable
from service.model.registry import LiveRegistry
from service.protocol.errors import TemporarilyUnavailable

KEYS = "/connect/idp/{name}/jwks"

_DOCUMENT = document_fields(max_age=300)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEndpoint:
    registry: LiveRegistry
    credentials: OwnCredentials

    def routes(self) -> Iterable[Route]:
        return (web.get(KEYS, self.keys),)

    async def keys(self, request: web.Request) -> web.Response:
        """Return the public keys that verify this service's client assertions at the provider (RFC 7517 §5)."""
        provider = self.registry.current.identity_providers.get(request.match_info["name"])
        try:
            jwks = None if provider is None else await self.credentials.public_jwks(provider)
        except ProviderUnavailable as failure:
            raise TemporarilyUnavailable("the key cannot be read at the moment") from failure
        if jwks is None:
            raise web.HTTPNotFound
        return Answer(_DOCUMENT, jwks).for_aiohttp()
