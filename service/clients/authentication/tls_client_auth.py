"""tls_client_auth: a certificate of an authority, which names the client (RFC 8705 §2.1)."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import structlog

from service.keys.certificates import has_allowed_key, is_chained
from service.model.certificate import names_alternative, names_subject
from service.model.client import Client
from service.model.credentials import ClientCertificate, Evidence, RequestCredentials
from service.model.registry import LiveRegistry

log = structlog.stdlib.get_logger(__name__)


class TlsClientAuth(msgspec.Struct, frozen=True):
    """The service verifies the chain itself: a proxy that lets self-signed certificates through vouches for none."""

    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset()
    registry: LiveRegistry

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        return Evidence.of_certificate(request)

    async def proves(self, evidence: Evidence, client: Client | None) -> bool:
        certificate = evidence.request.certificate
        authorities = self.registry.current.client_authorities
        if certificate is None or authorities is None:
            return False
        chained = is_chained(certificate, authorities, evidence.request.now)
        if client is None:
            return False
        if not chained:
            reason = "its chain, its time or its use is wrong"
        elif not has_allowed_key(certificate, client):
            reason = "the client's profile does not allow its key"
        elif not _names(certificate, client):
            reason = "it names another client"
        else:
            return True
        log.info("client certificate refused", client_id=client.client_id, reason=reason)
        return False


def _names(certificate: ClientCertificate, client: Client) -> bool:
    """Return whether the certificate names the client by the one name that is registered (RFC 8705 §2.1.2)."""
    if client.tls_client_auth_subject_dn is not None:
        return names_subject(certificate.der, client.tls_client_auth_subject_dn)
    registered = {
        "dns": client.tls_client_auth_san_dns,
        "uri": client.tls_client_auth_san_uri,
        "ip": client.tls_client_auth_san_ip,
        "email": client.tls_client_auth_san_email,
    }
    return any(
        names_alternative(certificate.der, kind, name) for kind, name in registered.items() if name
    )
