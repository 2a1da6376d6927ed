"""Certificates that are right or wrong in one way each, and the names in them."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.driving.authority import FOR_CLIENTS, Certified

Make = Callable[[Certified], Certified]

SAN = {
    "dns": ("Shop.example", x509.DNSName("shop.EXAMPLE")),
    "uri": ("spiffe://example/shop", x509.UniformResourceIdentifier("spiffe://example/shop")),
    "ip": ("2001:db8::1", x509.IPAddress(ip_address("2001:0db8:0::1"))),
    "email": ("shop@Example.com", x509.RFC822Name("shop@example.COM")),
}
FOREIGN = {
    "dns": x509.DNSName("*.example"),
    "uri": x509.UniformResourceIdentifier("spiffe://example/Shop"),
    "ip": x509.IPAddress(ip_address("2001:db8::2")),
    "email": x509.RFC822Name("Shop@example.com"),
}


def with_names(authority: Certified, *names: x509.GeneralName) -> Certified:
    return authority.issue("CN=x", extensions=(*FOR_CLIENTS, x509.SubjectAlternativeName(names)))


def below(*constraints: x509.ExtensionType, **settings: Any) -> Make:
    """A certificate of an authority below the accepted one."""
    return lambda ca: ca.authority("CN=below", *constraints, **settings).issue()


USAGE = dict.fromkeys(
    (
        *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
        *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
    ),
    False,
)
AUTHORITY = x509.BasicConstraints(ca=True, path_length=None)


def only(usage: str) -> x509.KeyUsage:
    return x509.KeyUsage(**USAGE | {usage: True})


def excluded(*names: x509.GeneralName) -> x509.NameConstraints:
    return x509.NameConstraints(permitted_subtrees=None, excluded_subtrees=names)


SERVERS_ONLY = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
