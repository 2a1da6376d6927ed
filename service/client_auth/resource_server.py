"""Authenticates callers of introspection: an API resource, an API scope, or a client about its own tokens (RFC 7662 §2.1)."""

from __future__ import annotations

from service.client_auth import ClientAuthentication
from service.client_auth.client_secret_basic import ClientSecretBasic
from service.client_auth.credential_cache import CredentialCache
from service.model.client import Client, verifies_any
from service.model.credentials import RequestCredentials
from service.model.registry import LiveRegistry
from service.model.resources import Api
from service.protocol.errors import InvalidClient
from service.protocol.http_authentication import basic_challenge

Caller = Api | Client


class CallerAuthentication:
    """Authenticates an API resource or scope by Basic, or else a client by any of its methods."""

    def __init__(self, registry: LiveRegistry, client_auth: ClientAuthentication) -> None:
        self.client_auth = client_auth
        self._registry = registry
        self._cache = CredentialCache[Api](client_auth.credential_parameters)

    async def authenticate(self, request: RequestCredentials) -> Caller:
        """Return the caller; raise InvalidClient with a challenge if it is not proven (RFC 7662 §2.3)."""
        registry = self._registry.current
        remembered = self._cache.find(request, registry)
        if remembered is not None:
            return remembered
        challenge = basic_challenge(self.client_auth.realm)
        named: tuple[Api | None, ...] = ()
        try:
            method, evidence = self.client_auth.read_candidates(request)[0]
            if method.name == ClientSecretBasic.name:
                name = evidence.client_id
                named = (registry.api_resources.get(name), registry.api_scopes.get(name))
            for api in named:
                secrets = api.secrets if api else ()
                if verifies_any(secrets, evidence.proof, now=request.now) and api:
                    self._cache.remember(request, registry, api, name=api.name, secrets=secrets)
                    return api
            client = await self.client_auth.authenticate(request)
        except InvalidClient as refused:
            refused.headers = challenge
            refused.claimed = next((api.name for api in named if api), refused.claimed)
            raise
        if client.is_public:
            description = "a public client cannot introspect"
            raise InvalidClient(description, headers=challenge, claimed=client.client_id)
        return client
