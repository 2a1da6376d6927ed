"""/connect/idp/{name}: what identity providers themselves ask of this service (OIDC Core §10.1)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from aiohttp import web

from service.identity.providers.client_authentication import OwnCredentials
from service.identity.providers.logout import ProviderLogout
from service.identity.providers.provider import ProviderUnavailable
from service.model.identity_provider import IdentityProvider
from service.model.registry import LiveRegistry
from service.protocol.errors import InvalidRequest, TemporarilyUnavailable
from service.protocol.paths import IDPS
from service.web.endpoint import Answer, Direct, Message, document_fields, empty_answer, name_in
from service.web.parameters import form_params

BACKCHANNEL_LOGOUT = f"{IDPS}{{name}}/backchannel_logout"
KEYS = f"{IDPS}{{name}}/jwks"

_DOCUMENT = document_fields(max_age=300)


class ProviderEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    registry: LiveRegistry
    credentials: OwnCredentials
    logout: ProviderLogout

    def routes(self) -> Iterable[Direct]:
        return (
            Direct("GET", KEYS, self.keys),
            Direct("POST", BACKCHANNEL_LOGOUT, self.end_sessions),
        )

    async def end_sessions(self, request: Message) -> Answer:
        """Take a logout token (OIDC Back-Channel Logout §2.5); 200 also if nobody's session has to end."""
        params = await form_params(request)
        provider = self._find_provider(request)
        if provider is None or not provider.is_openid:
            raise InvalidRequest("there is no OpenID provider of that name")
        await self.logout.end_sessions(provider, params.require("logout_token"))
        return empty_answer()

    async def keys(self, request: Message) -> Answer:
        """Return the public keys that verify this service's client assertions at the provider (RFC 7517 §5)."""
        provider = self._find_provider(request)
        try:
            jwks = None if provider is None else await self.credentials.public_jwks(provider)
        except ProviderUnavailable as failure:
            raise TemporarilyUnavailable("the key cannot be read at the moment") from failure
        if jwks is None:
            raise web.HTTPNotFound
        return Answer(_DOCUMENT, jwks)

    def _find_provider(self, request: Message) -> IdentityProvider | None:
        return self.registry.current.identity_providers.get(name_in(request, IDPS))
