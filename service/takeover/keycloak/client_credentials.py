"""Takes over the authentication method of a client of the realm, with its secrets and keys."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from cryptography import x509

from service.keys.jose import Key
from service.model.secret import hash_by_sha256
from service.takeover.found import SecretText
from service.takeover.keycloak.key_ids import PEM, key_id
from service.takeover.node import Misplaced, Node

_MASKED = "**********"
_SPACES = re.compile(r"(?<!\\) *([,+]) *")
"""Those of a distinguished name that RFC 4514 leaves out, and Java writes."""
_NEW_SECRET = "give it a new secret: `token-service new-secret`"


class NoCredential(Exception):
    """The export has no credential of the client that works here; the arguments are place, reason and remedy."""


def credentials_of(node: Node) -> Mapping[str, object]:
    """Return the keys of a confidential client by which it authenticates; raise NoCredential."""
    method = node.text("clientAuthenticatorType") or "client-secret"
    read = _METHODS.get(method)
    if read is None:
        place = f"{node.place}.clientAuthenticatorType"
        raise NoCredential(place, "a way of authentication that is not known here", _NEW_SECRET)
    return read(node)


def _secret_of(node: Node) -> str:
    secret, place = node.text("secret"), f"{node.place}.secret"
    if not secret:
        raise NoCredential(place, "the export has no secret of this client", _NEW_SECRET)
    if secret == _MASKED:
        remedy = "export the realm on the command line (kc.sh export), which masks nothing"
        raise NoCredential(place, "the secret is masked", remedy)
    if secret.startswith("${vault."):
        raise NoCredential(place, "the secret is in a vault", _NEW_SECRET)
    return secret


def _client_secret(node: Node) -> Mapping[str, object]:
    attributes = node.below("attributes")
    secrets = [{"sha256": hash_by_sha256(_secret_of(node)), **_end(attributes, "expiration.time")}]
    rotated = attributes.text("client.secret.rotated")
    ends = _end(attributes, "rotated.expiration.time")
    if rotated and rotated != _MASKED and ends:
        secrets.append({"sha256": hash_by_sha256(rotated), **ends})
    return {"client_secrets": secrets}


def _end(attributes: Node, name: str) -> Mapping[str, str]:
    seconds = attributes.number(f"client.secret.{name}")
    if not seconds or not 0 < seconds < 1 << 33:
        return {}
    return {"expires_at": datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}


def _client_secret_jwt(node: Node) -> Mapping[str, object]:
    return {
        "client_secrets": [{"value": SecretText(_secret_of(node))}],
        "token_endpoint_auth_method": "client_secret_jwt",
        "token_endpoint_auth_signing_alg": _algorithm(node),
    }


def _client_jwt(node: Node) -> Mapping[str, object]:
    return {
        "token_endpoint_auth_method": "private_key_jwt",
        "token_endpoint_auth_signing_alg": _algorithm(node),
        **keys_of(node, required=True),
    }


def _algorithm(node: Node) -> str | None:
    return node.below("attributes").text("token.endpoint.auth.signing.alg") or None


def keys_of(node: Node, *, required: bool) -> Mapping[str, object]:
    """Return where the public keys of a client are."""
    attributes = node.below("attributes")
    if attributes.flag("use.jwks.url") and attributes.has("jwks.url"):
        return {"jwks_uri": attributes.text("jwks.url")}
    if attributes.flag("use.jwks.string") and attributes.has("jwks.string"):
        jwks = attributes.parsed("jwks.string")
        if not isinstance(jwks.value, dict):
            raise Misplaced(jwks.place, "is no set of keys")
        return {"jwks": cast("dict[str, object]", jwks.value)}
    certificate = attributes.text("jwt.credential.certificate")
    if certificate:
        return {"jwks": {"keys": [_certified_key(attributes, certificate)]}}
    if required:
        place = f"{attributes.place}"
        raise NoCredential(place, "the export has no keys of this client", "add jwks or jwks_uri")
    return {}


def _certified_key(attributes: Node, certificate: str) -> Mapping[str, object]:
    place = f'{attributes.place}["jwt.credential.certificate"]'
    try:
        der = base64.b64decode("".join(certificate.split()), validate=True)
        public = x509.load_der_x509_certificate(der).public_key()
        pem = public.public_bytes(*PEM)
        key = next(filter(None, (_load(pem, alg) for alg in ("RS256", "ES256", "ES384", "ES512"))))
    except (ValueError, binascii.Error, StopIteration) as error:
        raise Misplaced(place, "is no certificate with a key that this service can use") from error
    jwk = {name: value for name, value in key.public_jwk.items() if name != "alg"}
    return {**jwk, "kid": attributes.text("jwt.credential.kid") or key_id(public)}


def _load(pem: bytes, alg: str) -> Key | None:
    try:
        return Key.load(pem, alg)
    except ValueError:
        return None


def _client_x509(node: Node) -> Mapping[str, object]:
    attributes = node.below("attributes")
    subject = attributes.text("x509.subjectdn")
    if attributes.flag("x509.allow.regex.pattern.comparison"):
        place = f'{attributes.place}["x509.subjectdn"]'
        raise NoCredential(place, "a pattern of subjects of certificates", "name the one subject")
    if not subject:
        raise NoCredential(attributes.place, "the subject of its certificate is missing", "name it")
    return {
        "token_endpoint_auth_method": "tls_client_auth",
        "tls_client_auth_subject_dn": _SPACES.sub(r"\1", subject.strip()),
    }


_METHODS = {
    "client-secret": _client_secret,
    "client-secret-jwt": _client_secret_jwt,
    "client-jwt": _client_jwt,
    "client-x509": _client_x509,
}
