"""client_secret_basic: name and secret in the Authorization header (RFC 6749 §2.3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.model.catalogue import Credential
from service.model.client import Client, verifies_any
from service.model.credentials import CredentialSource, Presented
from service.protocol.basic_auth import parse_basic_auth


@dataclass(frozen=True, slots=True)
class ClientSecretBasic:
    """HTTP Basic, both halves form-url-encoded."""

    name: ClassVar[str] = "client_secret_basic"
    credential: ClassVar[Credential] = Credential.SECRET
    algorithms: ClassVar[tuple[str, ...]] = ()

    def offered(self, source: CredentialSource) -> Presented | None:
        """The decoded header, if it is of the Basic scheme."""
        if source.authorization is None:
            return None
        credentials = parse_basic_auth(source.authorization)
        if credentials is None:
            return None
        return Presented(client_id=credentials.name, proof=credentials.secret, source=source)

    async def proves(self, presented: Presented, client: Client | None) -> bool:
        """Whether the secret is one of the client's."""
        known = client.client_secrets if client else ()
        return verifies_any(known, presented.proof, now=presented.source.now)
