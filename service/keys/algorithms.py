"""The algorithms, and the keys that fit them (RFC 7518)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from joserfc.jwk import JWKRegistry
from joserfc.jws import JWSRegistry

MIN_RSA_BITS = 2048
"""RFC 7518 §3.3, §4.3."""


_RSA, _P256 = ("RSA", MIN_RSA_BITS), ("EC", "P-256")

_SIGNING_KEYS: Mapping[str, tuple[str, str | int]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), _RSA),
    "ES256": _P256,
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}
_ENCRYPTION_KEYS: Mapping[str, tuple[str, str | int]] = {
    **dict.fromkeys(("RSA-OAEP", "RSA-OAEP-256"), _RSA),
    **dict.fromkeys(("ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A256KW"), _P256),
}
_KEYS = {**_SIGNING_KEYS, **_ENCRYPTION_KEYS}
"""The type of the keys of an algorithm, and the size or curve of a new one."""

SIGNING_ALGORITHMS = tuple(_SIGNING_KEYS)

ENCRYPTION_ALGORITHMS = tuple(_ENCRYPTION_KEYS)
"""Those that encrypt to a public key (RFC 7518 §4.3, §4.6)."""

MAC_ALGORITHMS: Mapping[str, int] = {"HS256": 32, "HS384": 48, "HS512": 64}
"""Each with the smallest number of bytes of its key (RFC 7518 §3.2)."""

_OPERATIONS: Mapping[str, frozenset[str]] = {
    "RSA": frozenset({"encrypt", "decrypt", "wrapKey", "unwrapKey"}),
    "EC": frozenset({"deriveKey", "deriveBits"}),
}
"""The operations of a key to encrypt to, by its type (RFC 7517 §4.3)."""

_SIGNATURES = frozenset({"sign", "verify"})


def new_key(alg: str) -> Any:
    """Make a private key of joserfc's."""
    return JWKRegistry.generate_key(*_KEYS[alg])


def read_key(source: Mapping[str, Any] | str | bytes, alg: str) -> Any:
    """Read a JWK, its JSON or a PEM as a key of joserfc's.

    ValueError, or whatever joserfc raises, if it is not a key for this algorithm: by its type, its
    length, or its own members (RFC 7517 §4.2-4.4, RFC 7518 §3.3).
    """
    kind, _ = _KEYS[alg]
    if not isinstance(source, Mapping):
        text = source.encode() if isinstance(source, str) else source
        source = orjson.loads(text) if text.lstrip().startswith(b"{") else text
    if isinstance(source, Mapping):
        source = _check_operations(source, kind, alg)
    key: Any = JWKRegistry.import_key(source, kind)
    if kind == "RSA" and key.raw_value.key_size < MIN_RSA_BITS:
        raise ValueError(f"the key has fewer than {MIN_RSA_BITS} bits")
    _require_use(key, alg)
    return key


def _check_operations(key: Mapping[str, Any], kind: str, alg: str) -> dict[str, Any]:
    """Check `key_ops` and return the JWK without it: joserfc accepts one value, and browsers export others or none."""
    bare = dict(key)
    operations = bare.pop("key_ops", None)
    wanted = _OPERATIONS[kind] if alg in ENCRYPTION_ALGORITHMS else _SIGNATURES
    if operations and wanted.isdisjoint(operations):
        raise ValueError(f"the key is not one for {alg}")
    return bare


def _require_use(key: Any, alg: str) -> None:
    if alg in ENCRYPTION_ALGORITHMS:
        key.check_use("enc")
        key.check_alg(alg)
    elif not JWSRegistry.filter_algorithms(key, [alg]):
        raise ValueError(f"the key is not one for {alg}")
