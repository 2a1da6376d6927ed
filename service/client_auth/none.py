"""none: a public client only says who it is (RFC 6749 §2.1, RFC 7591 §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.model.catalogue import Credential
from service.model.client import Client, verifies_any
from service.model.credentials import CredentialSource, Presented


@dataclass(frozen=True, slots=True)
class NoAuthentication:
    """`client_id` alone."""

    name: ClassVar[str] = "none"
    credential: ClassVar[Credential] = Credential.NOTHING
    algorithms: ClassVar[tuple[str, ...]] = ()

    def offered(self, source: CredentialSource) -> Presented | None:
        """The client_id, if nothing stands beside it."""
        client_id = source.params.get("client_id")
        proofs = (source.params.get(name) for name in ("client_secret", "client_assertion"))
        if not client_id or source.authorization is not None or any(proofs):
            return None
        return Presented(client_id=client_id, proof="", source=source)

    async def proves(self, presented: Presented, client: Client | None) -> bool:
        """Whether the client is a public one."""
        verifies_any((), "", now=presented.source.now)
        return client is not None and client.is_public
