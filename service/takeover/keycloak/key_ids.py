"""The key ids of Keycloak, and the private keys in its exports."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_private_key,
)

from service.keys.jose import Key
from service.protocol.octets import base64url
from service.takeover.found import Found
from service.takeover.keycloak.export import RealmMembers
from service.takeover.node import Misplaced, Node

PEM = (Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
_ARMOUR = re.compile(r"-----[A-Z ]+-----|\s")
_PROVIDERS = "org.keycloak.keys.KeyProvider"
_SECRET_KINDS = ("hmac", "aes")
_MEMBERS = ("privateKey", "ecdsaPrivateKey", "eddsaPrivateKey")
_BY_JWKS = (
    "give the public keys by --jwks, as the realm publishes them at …/protocol/openid-connect/certs"
)
_Public = rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey
_LONGEST = 20_000
"""Characters of a private key in base64; RSA with 16384 bits has half of that."""
_CURVES = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}


class PublicKey(Protocol):
    """A public key of cryptography's, of any type."""

    def public_bytes(self, encoding: Encoding, format: PublicFormat) -> bytes:  # noqa: A002 - its word
        """Return the key in this form."""
        ...


def key_id(key: PublicKey) -> str:
    """Return the `kid` that Keycloak gives a key: the hash of its SubjectPublicKeyInfo."""
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64url(hashlib.sha256(der).digest())


def add_signing_keys(members: RealmMembers, found: Found) -> None:
    """Add the public half of each key by which the realm has signed and that it publishes."""
    components = members.settings.below("components")
    if not components.has(_PROVIDERS):
        found.ask_for_keys("components", "the export has no keys", _BY_JWKS)
        return
    for node in components.items(_PROVIDERS):
        with found.taking(node.place):
            kind, config = node.required_text("providerId"), node.below("config")
            use = _first(config, "keyUse") or "SIG"
            if kind.startswith(_SECRET_KINDS) or "-enc" in kind or use.upper() != "SIG":
                continue
            if (_first(config, "enabled") or "true") == "false":
                continue
            written = next((name for name in _MEMBERS if _first(config, name)), None)
            if written is None:
                found.ask_for_keys(node.place, "the export has no private key of it", _BY_JWKS)
                continue
            found.add_key(node.place, _public_jwk(config, written))


def _first(config: Node, name: str) -> str | None:
    """Return the value of a setting of a component, which is a list of one."""
    values = config.texts(name)
    return values[0] if values else None


def _public_jwk(config: Node, written: str) -> Mapping[str, object]:
    place = config.below(written).place
    text = _ARMOUR.sub("", _first(config, written) or "")
    if len(text) > _LONGEST:
        raise Misplaced(place, "is longer than any key")
    try:
        private = load_der_private_key(base64.b64decode(text, validate=True), None)
    except (ValueError, TypeError, binascii.Error) as error:
        raise Misplaced(place, "is no private key") from error
    except Exception as error:
        raise Misplaced(place, "is no private key of a known kind") from error
    public = private.public_key()
    if isinstance(public, rsa.RSAPublicKey):
        usual = "RS256"
    elif isinstance(public, ec.EllipticCurvePublicKey):
        usual = _CURVES.get(public.curve.name, "")
    elif isinstance(public, ed25519.Ed25519PublicKey):
        usual = "EdDSA"
    else:
        usual = ""
    algorithm = _first(config, "algorithm") or usual
    try:
        key = Key.load(public.public_bytes(*PEM), algorithm if usual else "")
    except (ValueError, KeyError) as error:
        raise Misplaced(place, "is no key that this service can use") from error
    return {**key.public_jwk, "kid": key_id(public)}
