"""Reads the public halves of signing keys (RFC 7517)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from service.keys.algorithms import PUBLIC_MEMBERS, SIGNING_ALGORITHMS
from service.keys.jose import Key
from service.protocol.json_input import JsonRefused, parse_json
from service.takeover.reading import opened, unreadable

MAX_BYTES = 1 << 20
_ALGORITHMS = {
    "RSA": "RS256",
    "P-256": "ES256",
    "P-384": "ES384",
    "P-521": "ES512",
    "Ed25519": "EdDSA",
}
"""By type or curve: the algorithm of a key that names none."""
_LONGEST = 2000
"""Characters of a member: RSA with 8192 bits has 1366."""


class NoSigningKey(ValueError):
    """A JWK is not a public key that verifies tokens; the message says why."""


def public_jwk(jwk: Mapping[str, object]) -> dict[str, object]:
    """Return the public members of a key that verifies signatures, with its `kid` and `alg`; raise NoSigningKey."""
    kind = jwk.get("kty")
    names = PUBLIC_MEMBERS.get(kind) if isinstance(kind, str) else None
    if names is None:
        raise NoSigningKey("it is no public key")
    if jwk.get("use", "sig") != "sig":
        raise NoSigningKey("it is not for signatures")
    public: dict[str, object] = {"kty": kind, **{name: jwk.get(name) for name in names}}
    if not all(isinstance(each, str) and len(each) <= _LONGEST for each in public.values()):
        raise NoSigningKey("its members are not those of a key")
    usual = _ALGORITHMS.get(str(public.get("crv", kind)))
    algorithm = jwk.get("alg") or usual
    if algorithm not in SIGNING_ALGORITHMS:
        raise NoSigningKey("its algorithm is no signature algorithm that this service knows")
    try:
        key = Key.load(public | _kid_of(jwk), str(algorithm))
    except ValueError as error:
        raise NoSigningKey("it is no key that this service can use") from error
    return key.public_jwk


def _kid_of(jwk: Mapping[str, object]) -> dict[str, object]:
    kid = jwk.get("kid")
    return {"kid": kid} if isinstance(kid, str) and kid.isascii() and kid.isprintable() else {}


def read_jwks(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the keys of a file, a set or one bare key, each with its place; raise Unreadable."""
    with opened(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise unreadable(path, "", "a set of keys is smaller")
    try:
        decoded = parse_json(content.removeprefix(b"\xef\xbb\xbf"))
    except JsonRefused as error:
        raise unreadable(path, "", f"it {error}") from error
    if not isinstance(decoded, dict):
        raise unreadable(path, "", "this is neither a set of keys nor a key")
    jwks = cast("dict[str, object]", decoded)
    listed = jwks.get("keys", [jwks] if "kty" in jwks else None)
    if not isinstance(listed, list):
        raise unreadable(path, "keys", "this is neither a set of keys nor a key")
    for at, key in enumerate(cast("list[object]", listed)):
        place = f"{path.name}: keys[{at}]"
        if not isinstance(key, dict):
            raise unreadable(path, f"keys[{at}]", "this is no key")
        yield place, cast("dict[str, object]", key)
