"""self_signed_tls_client_auth: a certificate that the client has registered, or its key (RFC 8705 §2.2)."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from service.clients.published_keys import PublishedKeys
from service.keys.certificates import has_allowed_key, is_valid_at, key_digest
from service.keys.foreign_keys import ForeignKeys
from service.model.certificate import der_in_pem, der_in_x5c
from service.model.client import Client
from service.model.credentials import ClientCertificate, Evidence, RequestCredentials


class SelfSignedTlsClientAuth(msgspec.Struct, frozen=True):
    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset()
    published: PublishedKeys

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        return Evidence.of_certificate(request)

    async def proves(self, evidence: Evidence, client: Client | None) -> bool:
        certificate = evidence.request.certificate
        if certificate is None or not is_valid_at(certificate, evidence.request.now):
            return False
        if client is None or not has_allowed_key(certificate, client):
            return False
        return await self._is_registered(certificate, client)

    async def _is_registered(self, certificate: ClientCertificate, client: Client) -> bool:
        if any(_matches(certificate, each) for each in client.self_signed_certificates):
            return True
        keys = await self.published.find(client)
        if _holds_key(keys, certificate):
            return True
        renewed = await self.published.find(client, renewed=True)
        return renewed != keys and _holds_key(renewed, certificate)


def _matches(certificate: ClientCertificate, registered: str) -> bool:
    """Compare the key with that of a registered certificate, or the thumbprint with a registered one."""
    der = der_in_pem(registered)
    if der is None:
        return certificate.confirmation.thumbprint == registered
    return _has_key_of(certificate, der)


def _holds_key(keys: ForeignKeys, certificate: ClientCertificate) -> bool:
    """Return whether a JWK has a certificate with this key (RFC 7517 §4.7)."""
    registered = (der_in_x5c(each.get("x5c")) for each in keys.keys)
    return any(_has_key_of(certificate, der) for der in registered if der is not None)


def _has_key_of(certificate: ClientCertificate, registered: bytes) -> bool:
    digest = key_digest(certificate.der)
    return digest is not None and digest == key_digest(registered)
