"""Authorities that issue certificates to clients, and the certificates, right and wrong in every way."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID

from service.protocol.octets import base64url
from tests.driving.certificate import FOR_AUTHORITIES

EdwardsKey = ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | EdwardsKey
DAY = timedelta(days=1)
FOR_CLIENTS: tuple[x509.ExtensionType, ...] = (
    x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]),
)


@dataclass(frozen=True)
class Certified:
    """A certificate, its key, and the authorities between it and the root."""

    certificate: x509.Certificate
    key: PrivateKey
    chain: tuple[x509.Certificate, ...] = ()

    @cached_property
    def der(self) -> bytes:
        """The certificate alone."""
        return self.certificate.public_bytes(Encoding.DER)

    @property
    def pem(self) -> str:
        """The certificate alone."""
        return self.certificate.public_bytes(Encoding.PEM).decode()

    @property
    def thumbprint(self) -> str:
        """As `cnf.x5t#S256` has it (RFC 8705 §3.1)."""
        return base64url(sha256(self.der).digest())

    @property
    def jwk(self) -> dict[str, object]:
        """A key of a JWK set that holds the certificate (RFC 8705 §2.2.2)."""
        key = self.key.public_key()
        assert isinstance(key, ec.EllipticCurvePublicKey)
        point = key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)[1:]
        coordinates = {"x": base64url(point[:32]), "y": base64url(point[32:])}
        x5c = [b64encode(self.der).decode()]
        return {"kty": "EC", "crv": "P-256", **coordinates, "x5c": x5c}

    def headers(self, *, chain: bool = True) -> dict[str, str]:
        """As a proxy passes it on by RFC 9440."""
        headers = {"Client-Cert": sequence(self.certificate)}
        if chain and self.chain:
            headers["Client-Cert-Chain"] = ", ".join(map(sequence, self.chain))
        return headers

    def escaped(self) -> dict[str, str]:
        """As nginx passes it on."""
        return {"X-SSL-Cert": quote(self.pem, safe="")}

    def write(self, file: Path) -> Path:
        """One PEM file with the key, the certificate and its chain."""
        private = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        shown = [each.public_bytes(Encoding.PEM) for each in (self.certificate, *self.chain)]
        file.write_bytes(private + b"".join(shown))
        return file

    def issue(
        self,
        subject: str = "CN=shop,O=Example",
        *,
        extensions: Sequence[x509.ExtensionType] = FOR_CLIENTS,
        critical: Sequence[x509.ExtensionType] = (),
        key: PrivateKey | None = None,
        since: timedelta = -DAY,
        until: timedelta = 30 * DAY,
        names_keys: bool = True,
    ) -> Certified:
        """A certificate that this one has signed; it can lack the extensions that name keys (RFC 5280 §4.2.1.1, §4.2.1.2)."""
        chain = () if self.certificate.issuer == self.certificate.subject else self.chain_below
        return _sign(
            subject,
            self,
            key=key,
            extensions=extensions,
            critical=critical,
            since=since,
            until=until,
            chain=chain,
            names_keys=names_keys,
        )

    def authority(
        self,
        subject: str,
        *critical: x509.ExtensionType,
        length: int | None = None,
        ca: bool = True,
    ) -> Certified:
        """An authority below this one; its key's use is the usual one unless it is given."""
        constraints = x509.BasicConstraints(ca=ca, path_length=length if ca else None)
        if ca and not any(isinstance(each, x509.KeyUsage) for each in critical):
            critical = (FOR_AUTHORITIES, *critical)
        return self.issue(subject, extensions=(), critical=(constraints, *critical))

    @property
    def chain_below(self) -> tuple[x509.Certificate, ...]:
        """The certificates that the holder of one of this authority sends after its own."""
        return (self.certificate, *self.chain)


def root(subject: str = "CN=root", *, key: PrivateKey | None = None) -> Certified:
    """An authority that has signed itself."""
    constraints = x509.BasicConstraints(ca=True, path_length=None)
    return _sign(subject, None, key=key, critical=(constraints, FOR_AUTHORITIES))


def self_signed(
    subject: str = "CN=shop,O=Example",
    *,
    key: PrivateKey | None = None,
    since: timedelta = -DAY,
    until: timedelta = 30 * DAY,
) -> Certified:
    """A certificate without any authority."""
    return _sign(subject, None, key=key, since=since, until=until)


def sequence(certificate: x509.Certificate) -> str:
    """A byte sequence (RFC 8941 §3.3.5)."""
    return f":{b64encode(certificate.public_bytes(Encoding.DER)).decode()}:"


def _sign(
    subject: str,
    issuer: Certified | None,
    *,
    key: PrivateKey | None = None,
    extensions: Sequence[x509.ExtensionType] = (),
    critical: Sequence[x509.ExtensionType] = (),
    since: timedelta = -DAY,
    until: timedelta = 30 * DAY,
    chain: tuple[x509.Certificate, ...] = (),
    names_keys: bool = True,
) -> Certified:
    key, name = (
        key or ec.generate_private_key(ec.SECP256R1()),
        x509.Name.from_rfc4514_string(subject),
    )
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        issuer.certificate.subject if issuer else name,
        name,
        key.public_key(),
        x509.random_serial_number(),
        now + since,
        now + until,
    )
    if names_keys:
        extensions = (*_key_identifiers(key, issuer.key if issuer else key), *extensions)
    for is_critical, those in ((False, extensions), (True, critical)):
        for each in those:
            builder = builder.add_extension(each, critical=is_critical)
    signer = issuer.key if issuer else key
    signed = builder.sign(signer, None if isinstance(signer, EdwardsKey) else hashes.SHA256())
    return Certified(signed, key, chain)


def _key_identifiers(key: PrivateKey, issuer: PrivateKey) -> tuple[x509.ExtensionType, ...]:
    """The extensions that Python requires from 3.13 on."""
    return (
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
        x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key()),
    )
