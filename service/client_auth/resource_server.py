"""Who is asking about a token? An API resource, or a client about its own (RFC 7662 §2.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from service.client_auth import ClientAuthentication
from service.model.client import Client, verifies_any
from service.model.credentials import CredentialSource
from service.model.proven import Proven
from service.model.registry import LiveRegistry, Registry
from service.model.resources import ApiResource
from service.protocol.challenge import basic_challenge
from service.protocol.errors import InvalidClient

Caller = ApiResource | Client


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerAuthentication:
    """Authenticates by Basic as an API resource, or else as a client by any of its methods."""

    registry: LiveRegistry
    client_auth: ClientAuthentication
    _proven: Proven[ApiResource] = field(default_factory=Proven[ApiResource], init=False)

    def proven(self, source: CredentialSource) -> Caller | None:
        """The API resource that sent the same header before and was authenticated; else `authenticate` tells."""
        return self._proven.find(source, self.registry.current)

    async def authenticate(self, source: CredentialSource) -> Caller:
        """The caller; InvalidClient with a challenge where there is none (RFC 7662 §2.3)."""
        registry = self.registry.current
        resource: ApiResource | None = None
        try:
            resource, proven = self._resource(source, registry)
            if resource is not None and proven:
                name, secrets = resource.name, resource.secrets
                self._proven.remember(source, registry, resource, name=name, secrets=secrets)
                return resource
            client = self.client_auth.proven(source) or await self.client_auth.authenticate(source)
        except InvalidClient as refused:
            refused.challenge = basic_challenge(self.client_auth.realm)
            if resource is not None:
                refused.claimed = resource.name
            raise
        if client.is_public:
            raise InvalidClient(
                "a public client cannot ask",
                challenge=basic_challenge(self.client_auth.realm),
                claimed=client.client_id,
            )
        return client

    def _resource(
        self, source: CredentialSource, registry: Registry
    ) -> tuple[ApiResource | None, bool]:
        """The API resource that the request names, and whether it proves to be that."""
        method, presented = self.client_auth.offered(source)
        if method.name != "client_secret_basic":
            return None, False
        resource = registry.api_resources.get(presented.client_id)
        secrets = resource.secrets if resource else ()
        return resource, verifies_any(secrets, presented.proof, now=source.now)
