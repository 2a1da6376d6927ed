"""The client certificate that a token is bound to, from the TLS connection or a trusted proxy's header (RFC 8705 §3)."""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import unquote

from oauth_resource_server import jose
from oauth_resource_server.refusals import InvalidToken
from oauth_resource_server.request import Request

UNIX = "unix"
"""Among the trusted proxies: all that connect by a Unix socket."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """Finds the certificate of a request."""

    header: str | None
    """In lower case. The proxy removes or overwrites what its callers send in it."""
    proxies: tuple[IPv4Network | IPv6Network, ...]
    trusts_unix: bool

    @classmethod
    def create(cls, header: str | None, proxies: Iterable[str]) -> Certificates:
        """`proxies` are addresses, networks or `unix`; ValueError if a header is read from nobody."""
        listed = tuple(proxies)
        if header is not None and not listed:
            raise ValueError("certificate_header needs trusted_proxies: who may send it")
        networks = tuple(ip_network(one) for one in listed if one != UNIX)
        return cls(header and header.lower(), networks, UNIX in listed)

    def check(self, request: Request, thumbprint: str) -> None:
        """Raise InvalidToken unless the request came with the certificate of this `x5t#S256`."""
        certificate = self._find(request)
        if certificate is None:
            raise InvalidToken(
                "the access token is bound to a certificate, and the request has none"
            )
        if not hmac.compare_digest(jose.hash_of(certificate).encode(), thumbprint.encode()):
            raise InvalidToken("the access token is bound to another certificate")

    def _find(self, request: Request) -> bytes | None:
        if self.header is None or not self._is_proxy(request.peer):
            return request.certificate
        values = request.find_headers(self.header)
        return decode(values[0]) if len(values) == 1 else None

    def _is_proxy(self, peer: str | None) -> bool:
        if peer is None:
            return self.trusts_unix
        try:
            address = ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self.proxies)


def decode(value: str) -> bytes | None:
    """Read DER in base64 between colons (RFC 9440), or a PEM, also with percent-encoding as nginx sends it."""
    text = value.strip()
    if text.startswith(":") and text.endswith(":"):
        text = text[1:-1]
    else:
        text = unquote(text).strip().removeprefix("-----BEGIN CERTIFICATE-----")
        text = "".join(text.removesuffix("-----END CERTIFICATE-----").split())
    try:
        return b64decode(text, validate=True) or None
    except (binascii.Error, ValueError):
        return None
