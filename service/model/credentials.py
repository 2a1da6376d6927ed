"""The credentials of a request, before they are verified (RFC 6749 §2.3)."""

from __future__ import annotations

from hashlib import sha256
from typing import ClassVar, Protocol

import msgspec

from service.model.authorization import Confirmation
from service.model.client import Client
from service.model.secret import Secret
from service.protocol.params import Params
from service.protocol.token_types import CLIENT_ASSERTION


class ClientCertificate(msgspec.Struct, frozen=True, kw_only=True):
    """A certificate whose private key the sender holds, as a TLS handshake has shown."""

    der: bytes
    chain: tuple[bytes, ...] = ()
    """The certificates of authorities that were sent with it, the one that issued it first."""
    confirmation: Confirmation


class RequestCredentials(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The parts of a request that may hold credentials: header, body and certificate, never the query."""

    endpoint: str
    """The path that the request was sent to."""
    authorization: str | None
    authorization_hash: bytes | None = None
    """Its `hash_header`, where that is known already."""
    params: Params
    certificate: ClientCertificate | None
    now: int

    def has_any_of(self, names: frozenset[str]) -> bool:
        """Return whether the request has one of these parameters, or the Authorization header if it is among them."""
        has_header = self.authorization is not None and "Authorization" in names
        return has_header or not names.isdisjoint(self.params.values)

    @classmethod
    def of_assertion(cls, token: str, *, endpoint: str, now: int) -> RequestCredentials:
        """Return the credentials of a caller that sends an assertion in a header, as if they were in a form (RFC 7523 §2.2)."""
        sent = {"client_assertion": (token,), "client_assertion_type": (CLIENT_ASSERTION,)}
        return cls(
            endpoint=endpoint, authorization=None, params=Params(sent), certificate=None, now=now
        )


def hash_header(value: str) -> bytes:
    """Return the SHA-256 of a header's value, which may hold any byte."""
    return sha256(value.encode(errors="surrogateescape")).digest()


class Evidence(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A client_id that is not verified yet, and the secret or assertion that is to prove it."""

    client_id: str
    proof: str = ""
    """Empty for a method whose proof is the certificate, or that needs none."""
    request: RequestCredentials

    @classmethod
    def of_certificate(cls, request: RequestCredentials) -> Evidence | None:
        """Return the client_id if a certificate comes with it (RFC 8705 §2)."""
        client_id = request.params.get("client_id")
        if request.certificate is None or client_id is None:
            return None
        return cls(client_id=client_id, request=request)


class ClientAuthMethod(Protocol):
    """One way for a client to authenticate (RFC 7591 §2, `token_endpoint_auth_method`)."""

    algorithms: ClassVar[tuple[str, ...]]
    """Those of its signatures; empty if nothing is signed."""
    reads: ClassVar[frozenset[str]]
    """The header or the parameters that a client sends for this method alone.

    A request must not hold those of two methods (RFC 6749 §2.3). Empty for a method that reads only
    client_id or the certificate; it counts where a client has sent nothing for another method.
    """

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        """Return what the request holds for this method, or None."""
        ...

    async def proves(self, evidence: Evidence, client: Client | None) -> Secret | bool:
        """Return whether it is this client, or the secret that has shown it; as slow for an unknown one (None) as for a wrong secret."""
        ...
