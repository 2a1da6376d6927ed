"""none: a public client sends its client_id and proves nothing (RFC 6749 §2.1, RFC 7591 §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.model.catalogue import Credential
from service.model.client import Client, verifies_any
from service.model.credentials import Evidence, RequestCredentials


@dataclass(frozen=True, slots=True)
class NoAuthentication:
    name: ClassVar[str] = "none"
    credential: ClassVar[Credential] = Credential.NOTHING
    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset()

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        client_id = request.params.get("client_id")
        return Evidence(client_id=client_id, request=request) if client_id else None

    async def proves(self, evidence: Evidence, client: Client | None) -> bool:
        verifies_any((), "", now=evidence.request.now)  # takes as long as a wrong secret
        return client is not None and client.is_public
