"""client_secret_jwt: a JWT that the client's secret has signed (RFC 7523 §2.2, OIDC Core §9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.clients.assertions import ClientAssertions, assertion_in, is_by_secret
from service.keys.algorithms import MAC_ALGORITHMS
from service.model.catalogue import Credential
from service.model.client import Client
from service.model.credentials import CredentialSource, Presented


@dataclass(frozen=True, slots=True)
class ClientSecretJwt:
    """`client_assertion` with an HMAC; only where the registry holds the secret's value."""

    name: ClassVar[str] = "client_secret_jwt"
    credential: ClassVar[Credential] = Credential.SECRET_VALUE
    algorithms: ClassVar[tuple[str, ...]] = tuple(MAC_ALGORITHMS)
    assertions: ClientAssertions

    def offered(self, source: CredentialSource) -> Presented | None:
        """The assertion, if it says that it has an HMAC."""
        presented = assertion_in(source)
        return presented if presented is not None and is_by_secret(presented.proof) else None

    async def proves(self, presented: Presented, client: Client | None) -> bool:
        """Whether one of the client's secrets has signed it."""
        return await self.assertions.prove(presented, client, algorithms=self.algorithms)
