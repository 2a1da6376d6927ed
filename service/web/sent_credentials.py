"""Reads what a request shows to authenticate its sender: header, body and certificate, never the query."""

from __future__ import annotations

import re
import ssl
import sys
from base64 import b64decode
from binascii import Error as NotBase64
from functools import lru_cache
from hashlib import sha256
from typing import Protocol, cast
from urllib.parse import unquote

import msgspec
from multidict import istr

from service.clock import clock
from service.keys.certificates import MAX_INTERMEDIATES
from service.model.authorization import Confirmation
from service.model.certificate import der_in_pem, parse_certificate
from service.model.credentials import ClientCertificate, RequestCredentials, hash_header
from service.protocol.errors import InvalidRequest
from service.protocol.octets import base64url
from service.protocol.params import Params
from service.web.endpoint import Message, WholeRequest
from service.web.proxy import ClientAddress

DPOP = istr("DPoP")
_AUTHORIZATION = istr("Authorization")
CLIENT_CERT, CHAIN, X_SSL_CERT = "Client-Cert", "Client-Cert-Chain", "X-SSL-Cert"
_SEQUENCE = re.compile(":([A-Za-z0-9+/=]+):")
_HASH = "the hash of its Authorization header"
_DER = 2
"""`_ssl.ENCODING_DER`."""


class _Certificate(Protocol):
    def public_bytes(self, encoding: int, /) -> bytes: ...


class _Connection(Protocol):
    def get_unverified_chain(self) -> list[_Certificate]: ...


class CredentialReader(msgspec.Struct, frozen=True, kw_only=True):
    client_address: ClientAddress
    certificate_header: str | None
    """`server.client_certificate_header`."""

    def read(self, request: Message, params: Params) -> RequestCredentials:
        """Return the credentials; `params` are those of the body."""
        header = authorization(request)
        return RequestCredentials(
            endpoint=request.path,
            authorization=header,
            authorization_hash=None if header is None else _hash_of(request, header),
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
            certificates = _of_connection(request)
            return _certificate(certificates) if certificates else None
        values = request.headers.getall(header, [])
        if len(values) > 1:
            raise InvalidRequest(f"the {header} header is sent more than once")
        if not values or not values[0]:
            return None
        if header != CLIENT_CERT:
            return _parse_pem(values[0])
        return _parse_client_cert(values[0], ",".join(request.headers.getall(CHAIN, ())))


def authorization(request: Message) -> str | None:
    """Return the Authorization header, which must be sent only once (RFC 9110 §5.3, §11.6.2)."""
    headers = request.headers.getall(_AUTHORIZATION, ())
    if len(headers) > 1:
        raise InvalidRequest("the Authorization header is sent more than once")
    return headers[0] if headers else None


def _hash_of(request: Message, header: str) -> bytes:
    """Return the hash of the Authorization header, computed once for the requests of a connection that have the same head."""
    known = request.of_head.get(_HASH) if isinstance(request, WholeRequest) else None
    if known is None:
        known = hash_header(header)
        if isinstance(request, WholeRequest):
            request.of_head[_HASH] = known
    return known


def presented_token(request: Message, *schemes: str) -> str | None:
    """Return the token in the Authorization header, if its scheme is one of these (RFC 6750 §2.1, RFC 9449 §7.1)."""
    scheme, _, token = (authorization(request) or "").partition(" ")
    return token.strip() or None if scheme.lower() in schemes else None


def dpop_proofs(request: Message) -> tuple[str, ...]:
    """Return the DPoP headers, of which one is allowed (RFC 9449 §4.1)."""
    return tuple(request.headers.getall(DPOP, ()))


def _of_connection(request: Message) -> tuple[bytes, ...]:
    if isinstance(request, WholeRequest):
        return request.peer_certificates
    return peer_certificates(request.get_extra_info("ssl_object"))


def peer_certificates(tls: ssl.SSLObject | None) -> tuple[bytes, ...]:
    """Return the client's certificates of a handshake, its own first; none where none was asked for."""
    leaf = tls.getpeercert(binary_form=True) if tls else None
    if tls is None or leaf is None:
        return ()
    if sys.version_info >= (3, 13):
        chain = tls.get_unverified_chain()
    else:  # it is there since 3.10, without a public name
        native = cast("_Connection", vars(tls)["_sslobj"])
        chain = [each.public_bytes(_DER) for each in native.get_unverified_chain()]
    return leaf, *chain[1 : 1 + MAX_INTERMEDIATES]


@lru_cache(maxsize=1000)  # a client sends the same certificate with every request
def _parse_client_cert(value: str, chain: str) -> ClientCertificate:
    """Read a byte sequence, and a list of them (RFC 9440 §2.1, §2.2)."""
    members = chain.split(",") if chain.strip() else []
    if len(members) > MAX_INTERMEDIATES:
        raise InvalidRequest(f"the {CHAIN} header holds more than {MAX_INTERMEDIATES} certificates")
    leaf = _parse_sequence(CLIENT_CERT, value)
    return _certificate((leaf, *(_parse_sequence(CHAIN, each) for each in members)))


def _parse_sequence(header: str, text: str) -> bytes:
    """Return the certificate in a byte sequence (RFC 8941 §3.3.5)."""
    encoded = _SEQUENCE.fullmatch(text.strip())
    try:
        der = b64decode(encoded[1] if encoded else "", validate=True)
        parse_certificate(der)
    except (ValueError, NotBase64) as error:
        message = f"the {header} header does not hold a certificate as :base64 of its DER:"
        raise InvalidRequest(message) from error
    return der


@lru_cache(maxsize=1000)
def _parse_pem(value: str) -> ClientCertificate:
    """Read a certificate in PEM and URL encoding."""
    der = der_in_pem(unquote(value))
    if der is None:
        raise InvalidRequest(
            f"the {X_SSL_CERT} header does not hold a certificate as URL-encoded PEM"
        )
    return _certificate((der,))


def _certificate(certificates: tuple[bytes, ...]) -> ClientCertificate:
    der, *chain = certificates
    confirmation = Confirmation("x5t#S256", base64url(sha256(der).digest()))
    return ClientCertificate(der=der, chain=tuple(chain), confirmation=confirmation)
