"""Judges client certificates: their time, their key and their chain to an authority (RFC 8705 §2, RFC 5280 §6)."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import verification
from cryptography.x509.oid import ExtendedKeyUsageOID

from service.model.certificate import has_fapi_key, parse_certificate
from service.model.client import Client
from service.model.credentials import ClientCertificate

MAX_INTERMEDIATES = 4
"""Certificates that a client may show besides its own; each multiplies the ways that a chain may go."""
_MAX_DEPTH = 3
_MAX_RSA_BITS, _MAX_EXPONENT_BITS = 4096, 32
"""Of the keys of authorities that a client shows: a signature by a longer exponent takes a hundred times as long."""

_ANY_CRITICALITY = verification.Criticality.AGNOSTIC


def is_valid_at(certificate: ClientCertificate, now: int) -> bool:
    """Return whether the certificate is neither expired nor from the future (RFC 5280 §4.1.2.5)."""
    try:
        parsed = parse_certificate(certificate.der)
    except ValueError:  # OpenSSL, which made the handshake, takes some that this library does not
        return False
    begin, end = parsed.not_valid_before_utc, parsed.not_valid_after_utc
    return begin.timestamp() <= now <= end.timestamp()


def has_allowed_key(certificate: ClientCertificate, client: Client) -> bool:
    """Return whether the client's profile allows the key of the certificate (FAPI 2.0 Security Profile §5.4.1)."""
    return not client.follows_fapi or has_fapi_key(certificate.der)


@lru_cache(maxsize=1000)
def key_digest(der: bytes) -> bytes | None:
    """Return the SHA-256 hash of the SubjectPublicKeyInfo; None if the key is of an unknown kind."""
    try:
        key = parse_certificate(der).public_key()
    except (ValueError, UnsupportedAlgorithm):
        return None
    return sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()


def is_chained(certificate: ClientCertificate, authorities: bytes, now: int) -> bool:
    """Return whether the certificate is valid, is for clients, and chains to an authority (RFC 8705 §2.1, RFC 5280 §6.1).

    The authorities are PEM; each is an end of the chain, a root or not.
    """
    builder = (
        verification.PolicyBuilder()
        .store(_read_authorities(authorities))
        .time(datetime.fromtimestamp(now, UTC))
        .max_chain_depth(_MAX_DEPTH)
        .extension_policies(ca_policy=_OF_AUTHORITIES, ee_policy=_OF_CLIENTS)
    )
    try:
        if not all(map(_verifies_fast, certificate.chain)):
            return False
        leaf, *intermediates = map(parse_certificate, (certificate.der, *certificate.chain))
        builder.build_client_verifier().verify(leaf, intermediates)
    except (ValueError, UnsupportedAlgorithm, verification.VerificationError):
        return False
    return True


@lru_cache(maxsize=1000)
def _verifies_fast(der: bytes) -> bool:
    key = parse_certificate(der).public_key()
    return not isinstance(key, rsa.RSAPublicKey) or (
        key.key_size <= _MAX_RSA_BITS and key.public_numbers().e.bit_length() <= _MAX_EXPONENT_BITS
    )


@lru_cache(maxsize=4)
def _read_authorities(pem: bytes) -> verification.Store:
    return verification.Store(x509.load_pem_x509_certificates(pem))


def _client_is_no_authority(
    _: object, __: object, constraints: x509.BasicConstraints | None
) -> None:
    if constraints is not None and constraints.ca:
        raise ValueError("the certificate is that of an authority")


def _key_signs(_: object, __: object, usage: x509.KeyUsage | None) -> None:
    if usage is not None and not (usage.digital_signature or usage.key_agreement):
        raise ValueError("the key may not authenticate anybody")


def _is_for_clients(_: object, __: object, usage: x509.ExtendedKeyUsage | None) -> None:
    """Take a certificate without the extension for any purpose (RFC 5280 §4.2.1.12)."""
    if usage is not None and ExtendedKeyUsageOID.CLIENT_AUTH not in usage:
        raise ValueError("the certificate is not for TLS clients")


def _issuer_is_authority(_: object, __: object, constraints: x509.BasicConstraints) -> None:
    if not constraints.ca:
        raise ValueError("the issuer is no authority")


def _key_signs_certificates(_: object, __: object, usage: x509.KeyUsage | None) -> None:
    if usage is not None and not usage.key_cert_sign:
        raise ValueError("the issuer's key may not sign certificates")


def _issues_for_clients(_: object, __: object, usage: x509.ExtendedKeyUsage | None) -> None:
    allowed = {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
    if usage is not None and allowed.isdisjoint(usage):
        raise ValueError("the issuer may not issue certificates for TLS clients")


def _constrains_no_subject(_: object, __: object, constraints: x509.NameConstraints | None) -> None:
    """Refuse constraints on distinguished names, which the library does not apply to the subject."""
    if constraints is None:
        return
    subtrees = [*(constraints.permitted_subtrees or ()), *(constraints.excluded_subtrees or ())]
    if any(isinstance(each, x509.DirectoryName) for each in subtrees):
        raise ValueError("constraints on distinguished names are not supported")


_OF_CLIENTS = (
    verification.ExtensionPolicy.permit_all()
    .may_be_present(x509.BasicConstraints, _ANY_CRITICALITY, _client_is_no_authority)
    .may_be_present(x509.KeyUsage, _ANY_CRITICALITY, _key_signs)
    .may_be_present(x509.ExtendedKeyUsage, _ANY_CRITICALITY, _is_for_clients)
    .require_not_present(x509.NameConstraints)
)
_OF_AUTHORITIES = (
    verification.ExtensionPolicy.permit_all()
    .require_present(x509.BasicConstraints, _ANY_CRITICALITY, _issuer_is_authority)
    .may_be_present(x509.KeyUsage, _ANY_CRITICALITY, _key_signs_certificates)
    .may_be_present(x509.ExtendedKeyUsage, _ANY_CRITICALITY, _issues_for_clients)
    .may_be_present(x509.NameConstraints, _ANY_CRITICALITY, _constrains_no_subject)
)
"""Authorities of an organisation often lack what those of browsers must have, such as the key's usage."""
