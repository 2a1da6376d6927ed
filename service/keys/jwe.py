"""Encrypts and decrypts what only one party may read (RFC 7516, compact serialization)."""

from __future__ import annotations

import asyncio
from hashlib import sha256, sha384, sha512

from joserfc import jwk
from joserfc.errors import JoseError
from joserfc.jwe import JWERegistry, decrypt_compact, encrypt_compact

from service.keys.algorithms import ENCRYPTION_ALGORITHMS, SECRET_ALGORITHMS
from service.keys.jose import MAX_JWT_LENGTH, JwtRefused, Key, decode_json

KEY_MANAGEMENT = (*ENCRYPTION_ALGORITHMS, *SECRET_ALGORITHMS)

DEFAULT_ENC = "A128CBC-HS256"
"""For an `alg` that is registered without its `enc` (OpenID Connect Registration §2)."""

_CEK_BYTES = {
    "A128CBC-HS256": 32,
    "A192CBC-HS384": 48,
    "A256CBC-HS512": 64,
    "A128GCM": 16,
    "A192GCM": 24,
    "A256GCM": 32,
}
CONTENT_ENCRYPTION = tuple(_CEK_BYTES)

_DOTS = 4
_BROKEN = (JoseError, ValueError, TypeError, KeyError, AttributeError, AssertionError)
"""The exceptions of joserfc for malformed input."""

_REGISTRY = JWERegistry(
    algorithms=(*KEY_MANAGEMENT, *CONTENT_ENCRYPTION),  # and no `zip`
    strict_check_header=False,  # unknown header parameters are ignored (RFC 7516 §4)
)


def encryption_key_of_secret(secret: str, alg: str, enc: str) -> Key:
    """Return the key that is a client secret's hash, cut to the necessary length (OIDC Core §10.2)."""
    length = {"A128KW": 16, "A256KW": 32}.get(alg, _CEK_BYTES[enc])
    digest = {16: sha256, 24: sha256, 32: sha256, 48: sha384, 64: sha512}[length]
    octets = digest(secret.encode()).digest()[:length]
    return Key("", alg, jwk.OctKey(octets, octets))


def encrypt(content: bytes, key: Key, *, enc: str, cty: str | None) -> str:
    """Return a JWE of this content, or raise ValueError; `cty` is `JWT` if that is a JWT itself (RFC 7519 §5.2)."""
    header = {"alg": key.alg, "enc": enc, "kid": key.kid, "cty": cty}
    present = {name: value for name, value in header.items() if value}
    try:
        return encrypt_compact(present, content, key.material, registry=_REGISTRY)
    except JoseError as error:
        raise ValueError("nothing can be encrypted to the key") from error


def looks_encrypted(token: str) -> bool:
    """Whether it has the five parts of a JWE (RFC 7516 §9)."""
    return token.count(".") == _DOTS


def accepted_encryption_header(token: str) -> tuple[str, str, str | None]:
    """Return `alg`, `enc` and `kid` of a JWE with accepted algorithms, or raise JwtRefused (RFC 8725 §3.1, §3.6)."""
    if len(token) > MAX_JWT_LENGTH or not looks_encrypted(token) or not token.isascii():
        raise JwtRefused("it is too long, or does not have five parts of ASCII")
    header = decode_json(token.partition(".")[0])
    if "crit" in header or "zip" in header:  # a few bytes may expand without limit
        raise JwtRefused("it names critical header parameters, or is compressed")
    alg, enc, kid = header.get("alg"), header.get("enc"), header.get("kid")
    if not isinstance(alg, str) or alg not in KEY_MANAGEMENT:
        raise JwtRefused("its key management algorithm is not accepted")
    if not isinstance(enc, str) or enc not in CONTENT_ENCRYPTION:
        raise JwtRefused("its content encryption is not accepted")
    return alg, enc, kid if isinstance(kid, str) else None


async def decrypt(token: str, key: Key) -> bytes:
    """Return the content if it was encrypted to this key; every fault inside is the same refusal (RFC 7516 §11.5)."""
    if accepted_encryption_header(token)[0] != key.alg:
        raise JwtRefused("the key is for another algorithm")
    if key.material.key_type == "RSA":  # it takes a millisecond
        return await asyncio.to_thread(_decrypt, token, key)
    return _decrypt(token, key)


def _decrypt(token: str, key: Key) -> bytes:
    try:
        content = decrypt_compact(token, key.material, registry=_REGISTRY).plaintext
    except _BROKEN as error:
        raise JwtRefused("it cannot be decrypted") from error
    return content or b""
