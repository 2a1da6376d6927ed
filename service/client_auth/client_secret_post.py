"""client_secret_post: client_id and secret in the body (RFC 6749 §2.3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.model.catalogue import Credential
from service.model.client import Client, verifies_any
from service.model.credentials import Evidence, RequestCredentials


@dataclass(frozen=True, slots=True)
class ClientSecretPost:
    name: ClassVar[str] = "client_secret_post"
    credential: ClassVar[Credential] = Credential.SECRET
    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset({"client_secret"})

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        secret, client_id = request.params.get("client_secret"), request.params.get("client_id")
        return (
            None
            if secret is None
            else Evidence(client_id=client_id or "", proof=secret, request=request)
        )

    async def proves(self, evidence: Evidence, client: Client | None) -> bool:
        secrets = client.client_secrets if client else ()
        return verifies_any(secrets, evidence.proof, now=evidence.request.now)
