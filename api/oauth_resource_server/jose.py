"""Reads and verifies signed JWTs; the only file, with `credentials.py`, that knows joserfc (RFC 7515, RFC 8725)."""

from __future__ import annotations

import math
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry
from joserfc.jws import JWSRegistry

from oauth_resource_server.http import read_object

ALGORITHMS = (
    *("ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"),
    *("EdDSA", "Ed25519"),
)
"""All that sign with a private key; with a shared secret (HS256) any API could make tokens."""
_KEY_TYPES = {"ES": "EC", "PS": "RSA", "RS": "RSA", "Ed": "OKP"}
_MIN_RSA_BITS = 2048
_RSA_CHARACTERS = range(342, 2732)
"""Of `n`: 2048 to 16384 bits, the most that libraries compute with."""


class BadJwt(Exception):
    """A text is not an acceptable JWT; the message names the check that failed."""


def check_algorithms(algorithms: Collection[str]) -> frozenset[str]:
    """Return the allowed algorithms; ValueError for `none`, a shared secret or an unknown name."""
    if unusable := set(algorithms).difference(ALGORITHMS):
        raise ValueError(f"{', '.join(sorted(unusable))}: not an algorithm with a public key")
    return frozenset(algorithms)


def read_header(
    token: str, *, algorithms: Collection[str], types: Collection[str]
) -> dict[str, Any]:
    """Return the header of a JWT with an allowed algorithm and type; only `alg`, `kid` and, in proofs, `jwk` of it count."""
    if not token.isascii() or token.count(".") != 2:  # noqa: PLR2004
        raise BadJwt("it does not have three parts")
    header = _read_part(token.partition(".")[0])
    if header.get("alg") not in algorithms:
        raise BadJwt("its algorithm is not allowed")
    if "crit" in header or "b64" in header:
        raise BadJwt("it has critical header parameters")
    if str(header.get("typ", "")).lower().removeprefix("application/") not in types:
        raise BadJwt("it is a JWT of another type")
    return header


def read_key(jwk: Mapping[str, Any], alg: str) -> Any:
    """Return the key if it is a public one for signatures by `alg`, else None (RFC 7517 §4, RFC 7518 §3.3)."""
    if "d" in jwk or jwk.get("use", "sig") != "sig" or jwk.get("alg", alg) != alg:
        return None  # a private key is not even read: checking one that was made for it takes half a minute
    if "n" in jwk and len(str(jwk["n"])) not in _RSA_CHARACTERS:
        return None
    members = {name: value for name, value in jwk.items() if name not in {"key_ops", "x5c", "x5u"}}
    try:
        key: Any = JWKRegistry.import_key(members, _KEY_TYPES[alg[:2]])
        fits = bool(JWSRegistry.filter_algorithms(key, [alg]))
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    is_short = key.key_type == "RSA" and key.raw_value.key_size < _MIN_RSA_BITS
    return key if fits and not is_short else None


def verify(token: str, alg: str, key: Any) -> dict[str, Any]:
    """Return the claims if the signature is this key's."""
    signed, _, signature = token.rpartition(".")
    try:
        is_signed = JWSRegistry.algorithms[alg].verify(signed.encode(), _decode(signature), key)
    except (JoseError, ValueError):
        is_signed = False
    if not is_signed:
        raise BadJwt("its signature does not verify")
    return _read_part(signed.partition(".")[2])


def read_time(claims: Mapping[str, object], name: str) -> float | None:
    """Return a NumericDate, None if the claim is missing (RFC 7519 §2)."""
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadJwt(f"its claim {name} is not a time")
    return value


def base64url(octets: bytes) -> str:
    """Encode without padding (RFC 7515 §2)."""
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


def hash_of(text: str | bytes) -> str:
    """Return the SHA-256 hash as `ath`, `jkt` and `x5t#S256` have it."""
    return base64url(sha256(text.encode() if isinstance(text, str) else text).digest())


def _decode(part: str) -> bytes:
    try:
        octets = urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except ValueError as error:
        raise BadJwt("a part of it is not base64url") from error
    if base64url(octets) != part:  # another spelling of the same bytes
        raise BadJwt("a part of it is not base64url")
    return octets


def _read_part(part: str) -> dict[str, Any]:
    content = read_object(_decode(part))
    if content is None:
        raise BadJwt("a part of it is not a JSON object")
    return content
