"""Reads what a request shows to authenticate its sender: header, body and certificate, never the query."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TypeVar
from urllib.parse import unquote

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from service.clock import clock
from service.http.endpoint import Message, WholeRequest
from service.http.proxy import ClientAddress
from service.model.authorization import Confirmation
from service.model.credentials import ClientCertificate, RequestCredentials
from service.protocol.base64url import base64url
from service.protocol.errors import InvalidRequest, OAuthError
from service.protocol.params import Params

E = TypeVar("E", bound=OAuthError)


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialReader:
    client_address: ClientAddress
    certificate_header: str | None
    """`server.client_certificate_header`."""

    def read(self, request: Message, params: Params) -> RequestCredentials:
        """Return the credentials; `params` are those of the body."""
        return RequestCredentials(
            endpoint=request.path,
            authorization=authorization(request),
            params=params,
            certificate=self.read_certificate(request),
            now=clock(),
        )

    def read_certificate(self, request: Message) -> ClientCertificate | None:
        """Return the client's certificate, from a trusted proxy's header or else from the connection.

        The certificate of a connection from a proxy would be the proxy's own.
        """
        header = self.certificate_header
        if header is None or not self.client_address.is_from_proxy(request):
            der = _peer_certificate(request)
            return None if der is None else _certificate(der)
        values = request.headers.getall(header, [])
        if len(values) > 1:
            raise InvalidRequest(f"the {header} header is sent more than once")
        return _parse_header(header, values[0]) if values and values[0] else None


def authorization(request: Message) -> str | None:
    """Return the Authorization header, which must be sent only once (RFC 9110 §5.3, §11.6.2)."""
    headers = request.headers.getall("Authorization", [])
    if len(headers) > 1:
        raise InvalidRequest("the Authorization header is sent more than once")
    return headers[0] if headers else None


def presented_token(request: Message, *schemes: str) -> str | None:
    """Return the token in the Authorization header, if its scheme is one of these (RFC 6750 §2.1, RFC 9449 §7.1)."""
    scheme, _, token = (authorization(request) or "").partition(" ")
    return token.strip() or None if scheme.lower() in schemes else None


def dpop_proofs(request: Message) -> tuple[str, ...]:
    """Return the DPoP headers, of which one is allowed (RFC 9449 §4.1)."""
    return tuple(request.headers.getall("DPoP", ()))


def _peer_certificate(request: Message) -> bytes | None:
    if isinstance(request, WholeRequest):
        return request.peer_certificate
    tls = request.get_extra_info("ssl_object")
    return tls.getpeercert(binary_form=True) if tls else None


@lru_cache(maxsize=1000)  # a client sends the same certificate with every request
def _parse_header(header: str, value: str) -> ClientCertificate:
    """Read a byte sequence (RFC 9440 §2.1), or PEM in URL encoding."""
    try:
        if header == "Client-Cert":
            der = b64decode(value.removeprefix(":").removesuffix(":"), validate=True)
            certificate = x509.load_der_x509_certificate(der)
        else:
            certificate = x509.load_pem_x509_certificate(unquote(value).encode())
    except (ValueError, NotBase64) as error:
        raise InvalidRequest(f"the {header} header does not hold a certificate") from error
    return _certificate(certificate.public_bytes(Encoding.DER))


def _certificate(der: bytes) -> ClientCertificate:
    confirmation = Confirmation("x5t#S256", base64url(sha256(der).digest()))
    return ClientCertificate(der=der, confirmation=confirmation)
