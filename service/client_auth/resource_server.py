"""Authenticates callers of introspection: an API resource, an API scope, or a client about its own tokens (RFC 7662 §2.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from service.client_auth import ClientAuthentication
from service.model.client import Client, verifies_any
from service.model.credentials import CredentialSource
from service.model.proven import Proven
from service.model.registry import LiveRegistry, Registry
from service.model.resources import Api
from service.protocol.challenge import basic_challenge
from service.protocol.errors import InvalidClient

Caller = Api | Client


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerAuthentication:
    """Authenticates by Basic as an API resource or scope, or else as a client by any of its methods."""

    registry: LiveRegistry
    client_auth: ClientAuthentication
    _proven: Proven[Api] = field(default_factory=Proven[Api], init=False)

    def proven(self, source: CredentialSource) -> Caller | None:
        """The API that sent the same header before and was authenticated; else `authenticate` tells."""
        return self._proven.find(source, self.registry.current)

    async def authenticate(self, source: CredentialSource) -> Caller:
        """The caller; InvalidClient with a challenge where there is none (RFC 7662 §2.3)."""
        registry = self.registry.current
        named: tuple[Api | None, ...] = ()
        try:
            named, secret = self._named_apis(source, registry)
            for api in named:
                secrets = api.secrets if api is not None else ()
                if verifies_any(secrets, secret, now=source.now) and api is not None:
                    name = api.name
                    self._proven.remember(source, registry, api, name=name, secrets=secrets)
                    return api
            client = self.client_auth.proven(source) or await self.client_auth.authenticate(source)
        except InvalidClient as refused:
            refused.challenge = basic_challenge(self.client_auth.realm)
            refused.claimed = next((api.name for api in named if api), refused.claimed)
            raise
        if client.is_public:
            raise InvalidClient(
                "a public client cannot ask",
                challenge=basic_challenge(self.client_auth.realm),
                claimed=client.client_id,
            )
        return client

    def _named_apis(
        self, source: CredentialSource, registry: Registry
    ) -> tuple[tuple[Api | None, ...], str]:
        """Return the resource and the scope that the request names, and the secret that it presents."""
        method, presented = self.client_auth.offered(source)
        if method.name != "client_secret_basic":
            return (), ""
        name = presented.client_id
        named = (registry.api_resources.get(name), registry.api_scopes.get(name))
        return named, presented.proof
