"""What a request shows to say who sends it, before anything of it is believed."""

from __future__ import annotations

from typing import ClassVar, Protocol

import msgspec

from service.model.catalogue import Credential
from service.model.client import Client
from service.protocol.params import Params


class CredentialSource(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a request that may hold credentials: the header and the body, never the query."""

    endpoint: str
    """The path that the request was sent to."""
    authorization: str | None
    params: Params
    now: int


class Presented(msgspec.Struct, frozen=True, kw_only=True):
    """A client_id and the secret or assertion that came with it, empty where the method needs none."""

    client_id: str
    proof: str
    source: CredentialSource


class ClientAuthMethod(Protocol):
    """One way for a client to authenticate (RFC 7591 §2, `token_endpoint_auth_method`)."""

    name: ClassVar[str]
    credential: ClassVar[Credential]
    """What a client needs for it."""
    algorithms: ClassVar[tuple[str, ...]]
    """Those of its signatures; none where nothing is signed."""

    def offered(self, source: CredentialSource) -> Presented | None:
        """What the request presents for this method, or None if it does not use it."""
        ...

    async def proves(self, presented: Presented, client: Client | None) -> bool:
        """Whether it is this client; as slow for an unknown one (None) as for a wrong secret."""
        ...
