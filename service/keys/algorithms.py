"""The algorithms of signatures and encryption with the kind of key that each needs, and keys as they are written (RFC 7517, RFC 7518)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
"""Those that hold a secret."""
PUBLIC_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "RSA": ("n", "e"),
    "EC": ("crv", "x", "y"),
    "OKP": ("crv", "x"),
}
"""Those of a public key of each type (RFC 7518 §6.2.1, §6.3.1, RFC 8037 §2)."""

MIN_RSA_BITS = 2048
"""RFC 7518 §3.3, §4.3."""

_RSA, _P256 = ("RSA", MIN_RSA_BITS), ("EC", "P-256")

_SIGNING_KEYS: dict[str, tuple[str, str | int]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), _RSA),
    "ES256": _P256,
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}
_ENCRYPTION_KEYS: dict[str, tuple[str, str | int]] = {
    **dict.fromkeys(("RSA-OAEP", "RSA-OAEP-256"), _RSA),
    **dict.fromkeys(("ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A256KW"), _P256),
}
KEYS = {**_SIGNING_KEYS, **_ENCRYPTION_KEYS}
"""The type of the keys of an algorithm, and the size or curve of a new one."""

SIGNING_ALGORITHMS = tuple(_SIGNING_KEYS)

ENCRYPTION_ALGORITHMS = tuple(_ENCRYPTION_KEYS)
"""Those that encrypt to a public key (RFC 7518 §4.3, §4.6)."""

MAC_ALGORITHMS: Mapping[str, int] = {"HS256": 32, "HS384": 48, "HS512": 64}
"""Each with the smallest number of bytes of its key (RFC 7518 §3.2)."""

SECRET_ALGORITHMS = ("A128KW", "A256KW", "dir")
"""Those that encrypt by a key that is made of a client secret (OIDC Core §10.2)."""


def uses_secret(alg: str) -> bool:
    """Return whether a client's secret is the key, or the key is made of it (OIDC Core §10)."""
    return alg in MAC_ALGORITHMS or alg in SECRET_ALGORITHMS


def keys_in(jwks: Mapping[str, object] | None) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield each key of a set with its position; what is not a key is left out."""
    keys = jwks.get("keys") if jwks else None
    for at, key in enumerate(cast("list[object]", keys) if isinstance(keys, list) else []):
        if isinstance(key, dict):
            yield at, cast("dict[str, object]", key)
