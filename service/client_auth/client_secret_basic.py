"""client_secret_basic: client_id and secret in the Authorization header (RFC 6749 §2.3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.model.catalogue import Credential
from service.model.client import Client, verifies_any
from service.model.credentials import Evidence, RequestCredentials
from service.protocol.http_authentication import parse_basic_auth


@dataclass(frozen=True, slots=True)
class ClientSecretBasic:
    name: ClassVar[str] = "client_secret_basic"
    credential: ClassVar[Credential] = Credential.SECRET
    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset({"Authorization"})

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        credentials = request.authorization and parse_basic_auth(request.authorization)
        if not credentials:
            return None
        return Evidence(client_id=credentials.name, proof=credentials.secret, request=request)

    async def proves(self, evidence: Evidence, client: Client | None) -> bool:
        secrets = client.client_secrets if client else ()
        return verifies_any(secrets, evidence.proof, now=evidence.request.now)
