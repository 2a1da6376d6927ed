"""X.509 certificates of clients, the names in them, and the texts by which they are registered (RFC 8705 §2.1.2, §2.2)."""

from __future__ import annotations

import re
import unicodedata
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, cast

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

_ATTRIBUTES = {
    **{
        name.replace("_", ""): oid
        for name, oid in vars(NameOID).items()
        if isinstance(oid, x509.ObjectIdentifier)
    },
    "E": NameOID.EMAIL_ADDRESS,
    "SN": NameOID.SURNAME,
    "GN": NameOID.GIVEN_NAME,
}
"""Names of attribute types besides those of RFC 4514 §3, which other programs write, in capitals."""
_TYPE = re.compile(r"(?:(?<=^)|(?<=(?<!\\)[,+]))[A-Za-z][A-Za-z0-9-]*(?==)")
_HEXADECIMAL = re.compile(r"(?<==)#((?:[0-9A-Fa-f]{2})+)(?=[,+]|$)")
_TEXT_TAGS = (0x0C, 0x13, 0x16)
"""Of UTF8String, PrintableString and IA5String (X.690 §8.23)."""

_MIN_RSA_BITS, _MIN_EC_BITS = 2048, 224

_UNREADABLE = (
    *(x509.InvalidVersion, x509.DuplicateExtension, x509.UnsupportedGeneralNameType),
    *(UnsupportedAlgorithm, TypeError),
)
DistinguishedName = Sequence[frozenset[tuple[str, str]]]


@lru_cache(maxsize=1000)  # a client shows the same certificate with every request
def parse_certificate(der: bytes) -> x509.Certificate:
    """Return the certificate; ValueError for anything else, or if a part cannot be read."""
    try:
        certificate = x509.load_der_x509_certificate(der)
        # Its parts are read when they are first needed, and a date may be one that Python does not know.
        _ = certificate.subject, certificate.extensions
        _ = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    except _UNREADABLE as error:
        raise ValueError(str(error)) from error
    return certificate


@lru_cache(maxsize=1000)
def has_fapi_key(der: bytes) -> bool:
    """Return whether the key is one that FAPI allows: RSA of 2048 bits, EC of 224, or Ed25519 (FAPI 2.0 Security Profile §5.4.1)."""
    try:
        key = parse_certificate(der).public_key()
    except (ValueError, UnsupportedAlgorithm):
        return False
    if isinstance(key, rsa.RSAPublicKey):
        return key.key_size >= _MIN_RSA_BITS
    if isinstance(key, ec.EllipticCurvePublicKey):
        return key.curve.key_size >= _MIN_EC_BITS
    return isinstance(key, ed25519.Ed25519PublicKey)


@lru_cache(maxsize=1000)
def der_in_pem(text: str) -> bytes | None:
    """Return the one certificate in a text; None if the text is not one in PEM."""
    try:
        (certificate,) = x509.load_pem_x509_certificates(text.encode())
        der = certificate.public_bytes(Encoding.DER)
        parse_certificate(der)
    except (ValueError, *_UNREADABLE):
        return None
    return der


def der_in_x5c(x5c: object) -> bytes | None:
    """Return the certificate of a JWK's key, if the JWK holds one (RFC 7517 §4.7)."""
    chain = cast("list[object]", x5c) if isinstance(x5c, list) else []
    return _decode_der(chain[0]) if chain and isinstance(chain[0], str) else None


@lru_cache(maxsize=1000)
def _decode_der(text: str) -> bytes | None:
    try:
        der = b64decode(text, validate=True)
        parse_certificate(der)
    except (ValueError, NotBase64):
        return None
    return der


def names_subject(der: bytes, name: str) -> bool:
    """Return whether the subject is this one, by its value and not by its spelling (RFC 4514, RFC 5280 §7.1)."""
    try:
        subject = parse_certificate(der).subject
        return _values(subject) == parse_subject(name)
    except ValueError:
        return False


@lru_cache(maxsize=1000)
def parse_subject(name: str) -> DistinguishedName:
    """Return the distinguished name in a text (RFC 4514); ValueError if the text is not one."""
    text = _TYPE.sub(lambda found: found[0].upper(), name)
    text = _HEXADECIMAL.sub(_decode_hexadecimal, text)
    parsed = x509.Name.from_rfc4514_string(text, _ATTRIBUTES)
    if not parsed.rdns:
        raise ValueError("the name is empty")
    return _values(parsed)


def _decode_hexadecimal(found: re.Match[str]) -> str:
    """Return a value that is written as the hexadecimal form of its encoding as escaped text (RFC 4514 §2.4)."""
    tag, length, *content = bytes.fromhex(found[1])
    if tag not in _TEXT_TAGS or length != len(content):
        raise ValueError("the value is not a short text")
    return "".join(f"\\{each:02x}" for each in content)


def _values(name: x509.Name) -> DistinguishedName:
    return [
        frozenset((each.oid.dotted_string, _fold(each.value)) for each in rdn) for rdn in name.rdns
    ]


def _fold(value: str | bytes) -> str:
    """Return the text that equal values have in common (RFC 4518 §2)."""
    text = value if isinstance(value, str) else value.hex()
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def names_alternative(der: bytes, kind: str, name: str) -> bool:
    """Return whether this name of a kind (dns, uri, ip, email) is one of the certificate's (RFC 8705 §2.1.2)."""
    try:
        extensions = parse_certificate(der).extensions
        names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        found: Iterable[object] = names.get_values_for_type(_KINDS[kind])
        return _comparable(kind, name) in [_comparable(kind, str(each)) for each in found]
    except (ValueError, x509.ExtensionNotFound):
        return False


def _comparable(kind: str, name: str) -> object:
    if kind == "ip":
        return ip_address(name)
    if kind == "dns":
        return name.lower()
    local, at, domain = name.rpartition("@")
    return name if kind == "uri" else local + at + domain.lower()


_KINDS: dict[str, type[Any]] = {
    "dns": x509.DNSName,
    "uri": x509.UniformResourceIdentifier,
    "ip": x509.IPAddress,
    "email": x509.RFC822Name,
}
