"""JSON Web Keys and sets of them, as they are written (RFC 7517 §4, §5, RFC 7518 §6)."""

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


def keys_in(jwks: Mapping[str, object] | None) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield each key of a set with its position; what is not a key is left out."""
    keys = jwks.get("keys") if jwks else None
    for at, key in enumerate(cast("list[object]", keys) if isinstance(keys, list) else []):
        if isinstance(key, dict):
            yield at, cast("dict[str, object]", key)
