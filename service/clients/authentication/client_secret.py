"""client_secret_basic, client_secret_post and none: a secret in the header, in the body, or no secret at all (RFC 6749 §2.3.1)."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from service.clients.shared_secrets import SharedSecrets
from service.model.client import Client
from service.model.credentials import Evidence, RequestCredentials
from service.model.secret import Secret, verifies_any
from service.protocol.http_headers import parse_basic_auth


class ClientSecretBasic(msgspec.Struct, frozen=True):
    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset({"Authorization"})
    secrets: SharedSecrets

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        credentials = request.authorization and parse_basic_auth(request.authorization)
        if not credentials:
            return None
        client_id, secret = credentials
        return Evidence(client_id=client_id, proof=secret, request=request)

    async def proves(self, evidence: Evidence, client: Client | None) -> Secret | bool:
        return await self.secrets.prove(evidence, client)


class ClientSecretPost(msgspec.Struct, frozen=True):
    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset({"client_secret"})
    secrets: SharedSecrets

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        secret, client_id = request.params.get("client_secret"), request.params.get("client_id")
        if secret is None:
            return None
        return Evidence(client_id=client_id or "", proof=secret, request=request)

    async def proves(self, evidence: Evidence, client: Client | None) -> Secret | bool:
        return await self.secrets.prove(evidence, client)


class NoAuthentication(msgspec.Struct, frozen=True):
    """A public client sends its client_id and proves nothing (RFC 6749 §2.1, RFC 7591 §2)."""

    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset()

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        client_id = request.params.get("client_id")
        return Evidence(client_id=client_id, request=request) if client_id else None

    async def proves(self, evidence: Evidence, client: Client | None) -> bool:
        verifies_any((), "", now=evidence.request.now)  # as for a wrong secret that is hashed fast
        return client is not None and client.is_public
