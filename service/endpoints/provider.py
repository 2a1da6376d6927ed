"""/connect/idp/{name}: what identity providers themselves ask of this service (OIDC Core §10.1)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from aiohttp import web

from service.identity.providers.client_authentication import OwnCredentials
from service.identity.providers.logout import ProviderLogout
from service.identity.providers.provider import ProviderUnavailable
from service.model.registry import LiveRegistry
from service.protocol.errors import InvalidRequest, TemporarilyUnavailable
from service.web.endpoint import Answer, Route, document_fields, empty_answer
from service.web.parameters import form_params

BACKCHANNEL_LOGOUT = "/connect/idp/{name}/backchannel_logout"
KEYS = "/connect/idp/{name}/jwks"

_DOCUMENT = document_fields(max_age=300)


class ProviderEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    registry: LiveRegistry
    credentials: OwnCredentials
    logout: ProviderLogout

    def routes(self) -> Iterable[Route]:
        return (web.get(KEYS, self.keys), web.post(BACKCHANNEL_LOGOUT, self.end_sessions))

    async def end_sessions(self, request: web.Request) -> web.Response:
        """Take a logout token (OIDC Back-Channel Logout §2.5); 200 also if nobody's session has to end."""
        params = await form_params(request)
        provider = self.registry.current.identity_providers.get(request.match_info["name"])
        if provider is None or not provider.is_openid:
            raise InvalidRequest("there is no OpenID provider of that name")
        await self.logout.end_sessions(provider, params.require("logout_token"))
        return empty_answer().for_aiohttp()

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
