"""private_key_jwt: a JWT that one of the client's private keys has signed (RFC 7523 §2.2, OIDC Core §9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.clients.assertions import ClientAssertions, assertion_in, is_by_secret
from service.keys.algorithms import SIGNING_ALGORITHMS
from service.model.catalogue import Credential
from service.model.client import Client
from service.model.credentials import CredentialSource, Presented


@dataclass(frozen=True, slots=True)
class PrivateKeyJwt:
    """`client_assertion` with a signature."""

    name: ClassVar[str] = "private_key_jwt"
    credential: ClassVar[Credential] = Credential.KEYS
    algorithms: ClassVar[tuple[str, ...]] = SIGNING_ALGORITHMS
    assertions: ClientAssertions

    def offered(self, source: CredentialSource) -> Presented | None:
        """Any assertion but one with an HMAC, also one that is nothing at all."""
        presented = assertion_in(source)
        return None if presented is None or is_by_secret(presented.proof) else presented

    async def proves(self, presented: Presented, client: Client | None) -> bool:
        """Whether one of the client's keys has signed it."""
        return await self.assertions.prove(presented, client, algorithms=self.algorithms)
