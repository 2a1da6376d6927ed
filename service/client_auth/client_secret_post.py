"""client_secret_post: name and secret in the body (RFC 6749 §2.3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.model.catalogue import Credential
from service.model.client import Client, verifies_any
from service.model.credentials import CredentialSource, Presented


@dataclass(frozen=True, slots=True)
class ClientSecretPost:
    """`client_id` and `client_secret` as parameters of the body."""

    name: ClassVar[str] = "client_secret_post"
    credential: ClassVar[Credential] = Credential.SECRET
    algorithms: ClassVar[tuple[str, ...]] = ()

    def offered(self, source: CredentialSource) -> Presented | None:
        """The two parameters, if there is a secret among them."""
        secret = source.params.get("client_secret")
        if secret is None:
            return None
        client_id = source.params.get("client_id") or ""
        return Presented(client_id=client_id, proof=secret, source=source)

    async def proves(self, presented: Presented, client: Client | None) -> bool:
        """Whether the secret is one of the client's."""
        known = client.client_secrets if client else ()
        return verifies_any(known, presented.proof, now=presented.source.now)
