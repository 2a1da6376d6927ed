"""Makes credentials of IdentityServer's secrets: shared ones, which it keeps as hashes, keys and certificates."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import cast

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

from service.keys.algorithms import PRIVATE_MEMBERS
from service.model.certificate import parse_certificate
from service.protocol.json_input import JsonRefused, parse_json
from service.takeover.found import Found
from service.takeover.node import Misplaced
from service.takeover.record import Record

_HASHES = {32: "sha256", 64: "sha512"}
_CURVES = {"secp256r1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"}


class Credentials:
    """The secrets of a client, an API or a scope, by the keys of config.yaml."""

    def __init__(self, owner: Record, key: str, found: Found) -> None:
        self.secrets = list[dict[str, object]]()
        self.keys = list[dict[str, object]]()
        self.expired = 0
        for record in owner.records(key):
            with found.taking(record.place):
                self._read(record)

    def _read(self, record: Record) -> None:
        match record.text("type") or "SharedSecret":
            case "SharedSecret":
                self.secrets.append(_read_shared_secret(record))
            case "JWK":
                self.keys.append(_jwk(record))
            case "X509CertificateBase64":
                self.keys.append(_certificate(record))
            case "X509Thumbprint":
                remedy = "write the certificate into self_signed_certificates"
                raise Misplaced(record.place, "a thumbprint by SHA-1 is not accepted", remedy)
            case "X509Name":
                remedy = "write the name into tls_client_auth_subject_dn, in the form of RFC 4514"
                raise Misplaced(record.place, "the name of a certificate has another form", remedy)
            case _:
                raise Misplaced(
                    record.below("Type"),
                    "this type of secret is unknown: give the client another secret",
                )


def _read_shared_secret(record: Record) -> dict[str, object]:
    value = record.text("value") or ""
    try:
        size = len(base64.b64decode(value, validate=True))
    except (binascii.Error, ValueError):
        size = 0
    if size not in _HASHES:
        reason = "is neither base64 of SHA-256 nor of SHA-512, which IdentityServer compares"
        raise Misplaced(record.below("Value"), reason, "give the client another secret")
    entry: dict[str, object] = {_HASHES[size]: value}
    description = record.text("description")
    if description is not None:
        entry["description"] = description
    expires_at = record.text("expiration")
    if expires_at is not None:
        entry["expires_at"] = read_time(expires_at, record.below("Expiration"))
    return entry


def read_time(text: str, place: str) -> str:
    """Return a time of .NET after RFC 3339; one without a zone is UTC."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise Misplaced(place, "is no time such as 2026-11-30T00:00:00") from None
    time = time.replace(tzinfo=UTC) if time.tzinfo is None else time
    try:
        return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    except OverflowError:
        raise Misplaced(place, "is outside of the calendar") from None


def _jwk(record: Record) -> dict[str, object]:
    try:
        key = parse_json(record.text("value") or "")
    except JsonRefused:
        key = None
    if not isinstance(key, dict) or cast("dict[str, object]", key).get("kty") == "oct":
        raise Misplaced(record.below("Value"), "is no JSON Web Key with a public part")
    members = cast("dict[str, object]", key)
    return {name: value for name, value in members.items() if name not in PRIVATE_MEMBERS}


def _certificate(record: Record) -> dict[str, object]:
    """Return the key of a certificate, which stays with it in x5c, so that it also serves mutual TLS."""
    try:
        der = base64.b64decode(record.text("value") or "", validate=True)
        public = parse_certificate(der).public_key()
        members = dict(_public_members(public))
    except (binascii.Error, ValueError, TypeError):
        raise Misplaced(
            record.below("Value"), "is no certificate with a key of RSA or EC"
        ) from None
    return {**members, "x5c": [base64.b64encode(der).decode()]}


def _public_members(key: PublicKeyTypes) -> Iterator[tuple[str, str]]:
    if isinstance(key, rsa.RSAPublicKey):
        numbers = key.public_numbers()
        yield from (("kty", "RSA"), ("n", _encode(numbers.n)), ("e", _encode(numbers.e)))
    elif isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in _CURVES:
        point, size = key.public_numbers(), (key.curve.key_size + 7) // 8
        yield from (("kty", "EC"), ("crv", _CURVES[key.curve.name]))
        yield from (("x", _encode(point.x, size)), ("y", _encode(point.y, size)))
    else:
        raise ValueError("a key of another type")


def _encode(number: int, size: int = 0) -> str:
    content = number.to_bytes(size or (number.bit_length() + 7) // 8)
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
