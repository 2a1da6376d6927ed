"""A certificate for loopback that is its own authority."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

FOR_AUTHORITIES = x509.KeyUsage(
    digital_signature=True,
    key_cert_sign=True,
    crl_sign=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)
"""The use that the certificate of an authority has to name (RFC 5280 §4.2.1.3); Python demands it from 3.13 on."""


def certified(folder: Path) -> Path:
    """A PEM file with a new certificate for 127.0.0.1 and localhost, and its private key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now, day = datetime.now(UTC), timedelta(days=1)
    names = [x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("localhost")]
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + 365 * day)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(FOR_AUTHORITIES, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "loopback.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + certificate.public_bytes(Encoding.PEM))
    return file


def with_passphrase(file: Path) -> Path:
    """A PEM file next to this one with the same private key, encrypted."""
    key = load_pem_private_key(file.read_bytes(), None)
    encrypted = BestAvailableEncryption(b"passphrase")
    locked = file.with_name("locked.pem")
    locked.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encrypted))
    return locked
