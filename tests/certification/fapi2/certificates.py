"""The certificates of the suite's FAPI clients, for the keys that they sign with: their own, or those of an authority."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from service.protocol.octets import base64url

_FOLDER = Path(__file__).parent


@cache
def certificate_of(client_id: str) -> bytes:
    """The certificate of a static client, DER."""
    name = "client2" if client_id.endswith("-2") else "client"
    issued = "-of-authority" if "tls-client-auth" in client_id else ""
    file = _FOLDER / f"{name}{issued}.crt"
    return x509.load_pem_x509_certificate(file.read_bytes()).public_bytes(Encoding.DER)


def passed_on(certificate: bytes) -> dict[str, str]:
    """As a proxy passes it on (RFC 9440 §2.1)."""
    return {"Client-Cert": f":{b64encode(certificate).decode()}:"}


def thumbprint(certificate: bytes) -> str:
    """As `cnf.x5t#S256` has it (RFC 8705 §3.1)."""
    return base64url(sha256(certificate).digest())
