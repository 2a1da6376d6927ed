"""Verifying JWTs that somebody else signed, by the keys that they publish (RFC 7517 §5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypedDict

import msgspec
import orjson

from service.keys.algorithms import MAC_ALGORITHMS, SIGNING_ALGORITHMS
from service.keys.jose import (
    JwtRefused,
    Key,
    VerifiedClaims,
    claims_signed_by,
    unverified_header,
)

MAX_BYTES = 128 * 1024
"""Of a JWK set; a longer one counts as none."""

MAX_KEYS = 100
"""In a JWK set; one with more counts as none."""

MAX_MODULUS = 2731
"""Characters of an RSA key's `n`: 16384 bits, the most that anything computes with."""


class UnknownKey(JwtRefused):
    """None of the keys at hand fits; the signer may have published a new one since."""


class _JwkSet(TypedDict):
    keys: tuple[dict[str, object], ...]


@dataclass(frozen=True, slots=True)
class ForeignKeys:
    """A JWK set as it was fetched; a key is read when a signature first wants it, and once."""

    keys: tuple[dict[str, object], ...]
    _read: dict[tuple[int, str], Key | None] = field(
        default_factory=dict[tuple[int, str], "Key | None"], init=False, compare=False, repr=False
    )
    """By place in the set and algorithm; None for what is no key for it."""

    @classmethod
    def parse(cls, body: bytes) -> ForeignKeys:
        """Read a JWK set; ValueError where it is none, or larger than one is."""
        if len(body) > MAX_BYTES:
            raise ValueError(f"it is longer than {MAX_BYTES} bytes")
        return cls.of(orjson.loads(body))

    @classmethod
    def of(cls, jwks: object) -> ForeignKeys:
        """The keys of a JWK set that has been read; ValueError where it is none, or has too many."""
        keys = msgspec.convert(jwks, _JwkSet)["keys"]
        if len(keys) > MAX_KEYS:
            raise ValueError(f"it has more than {MAX_KEYS} keys")
        return cls(keys)

    def find(self, kid: object, alg: str) -> Key | None:
        """The key that a header means; without a key id, the only one that fits (OIDC Core §10.1)."""
        named = [
            place for place, one in enumerate(self.keys) if kid is None or one.get("kid") == kid
        ]
        fitting = [key for place in named if (key := self._key(place, alg)) is not None]
        return fitting[0] if len(fitting) == 1 else None

    def find_recipient(self, alg: str) -> Key | None:
        """The key to encrypt to; one that says it is for that goes first (RFC 7517 §4.2)."""
        places = range(len(self.keys))
        for place in sorted(places, key=lambda one: self.keys[one].get("use") != "enc"):
            key = self._key(place, alg)
            if key is not None:
                return key if "kid" in self.keys[place] else replace(key, kid="")
        return None

    def _key(self, place: int, alg: str) -> Key | None:
        if (place, alg) not in self._read:
            self._read[place, alg] = _key_for(self.keys[place], alg)
        return self._read[place, alg]


def accepted_header(
    token: str, *, algorithms: Collection[str], typ: Collection[str]
) -> Mapping[str, object]:
    """The header of a JWT, if its type and signature algorithm are on the lists (RFC 8725 §3.1, §3.11).

    A header without `typ` counts as `JWT`; no list makes `none` a signature.
    """
    header = unverified_header(token)
    if "crit" in header:
        raise JwtRefused("it names critical header parameters")
    if str(header.get("typ", "JWT")).lower() not in typ:
        raise JwtRefused("it is a JWT of another type")
    known = (*SIGNING_ALGORITHMS, *MAC_ALGORITHMS)
    if header.get("alg") not in known or header["alg"] not in algorithms:
        raise JwtRefused("its signature algorithm is not accepted")
    return header


def verify_foreign(
    token: str, keys: ForeignKeys, *, algorithms: Collection[str], typ: Collection[str]
) -> VerifiedClaims:
    """The claims of a JWT that one of these keys signed (RFC 8725 §3).

    Only `alg` and `kid` are taken from the header: keys and links to keys in it count for nothing.
    """
    header = accepted_header(token, algorithms=algorithms, typ=typ)
    key = keys.find(header.get("kid"), str(header["alg"]))
    if key is None:
        raise UnknownKey("none of the published keys fits its key id and algorithm")
    return claims_signed_by(key, token)


def _key_for(entry: Mapping[str, object], alg: str) -> Key | None:
    """The entry as a key for this algorithm; a private key that somebody publishes is nobody's secret.

    It is not even read: whether the numbers of a private RSA key belong together takes half a
    minute to find out, if somebody has chosen them so.
    """
    if "d" in entry or len(str(entry.get("n", ""))) > MAX_MODULUS:
        return None
    try:
        key = Key.load(entry, alg)
    except ValueError:
        return None
    return None if entry.get("use", key.use) != key.use else key
