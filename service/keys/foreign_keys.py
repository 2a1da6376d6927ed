"""Verifies JWTs that another party signed, by the keys that it publishes (RFC 7517 §5), and judges their times (RFC 7519 §4.1.4-4.1.6)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypedDict, cast

import msgspec

from service.keys import jose
from service.keys.algorithms import MAC_ALGORITHMS, SIGNING_ALGORITHMS
from service.keys.jose import JwtRefused, Key, VerifiedClaims
from service.protocol.json_input import parse_json
from service.protocol.templates import LONGEST_SUBJECT

LAST_SECOND = 253402300799
"""The end of the year 9999: a later NumericDate is no time that anybody means, and no library of dates knows it."""

MAX_BYTES = 128 * 1024
"""Of a JWK set; a longer one is refused."""

MAX_KEYS = 100
"""In a JWK set; one with more is refused."""

MAX_MODULUS = 2731
"""Characters of an RSA key's `n`: 16384 bits, the most that libraries compute with."""


MAX_EXPONENT = 6
"""Characters of an RSA key's `e`: 32 bits. With as many bits as `n` has, a signature takes a hundred times as long to verify."""


class UnknownKey(JwtRefused):
    """None of the known keys fits; the signer may have published a new one since."""


class _JwkSet(TypedDict):
    keys: tuple[dict[str, object], ...]


@dataclass(frozen=True, slots=True)
class ForeignKeys:
    """A JWK set as it was fetched; each key is read once, when a signature first needs it."""

    keys: tuple[dict[str, object], ...]
    _read: dict[tuple[int, str], Key | None] = field(
        default_factory=dict[tuple[int, str], "Key | None"], init=False, compare=False, repr=False
    )
    """By position in the set and algorithm; None if the entry is not a key for the algorithm."""

    @classmethod
    def parse(cls, body: bytes) -> ForeignKeys:
        """Read a JWK set; ValueError if it is malformed or too large."""
        if len(body) > MAX_BYTES:
            raise ValueError(f"it is longer than {MAX_BYTES} bytes")
        return cls.from_jwks(parse_json(body))

    @classmethod
    def from_jwks(cls, jwks: object) -> ForeignKeys:
        """Take a JWK set as JSON values; ValueError if it is malformed or has too many keys."""
        keys = msgspec.convert(jwks, _JwkSet)["keys"]
        if len(keys) > MAX_KEYS:
            raise ValueError(f"it has more than {MAX_KEYS} keys")
        return cls(keys)

    def find(self, kid: object, alg: str) -> Key | None:
        """Return the key of that id; without an id, the only one that fits (OIDC Core §10.1)."""
        named = [at for at, one in enumerate(self.keys) if kid is None or one.get("kid") == kid]
        fitting = [key for at in named if (key := self._key(at, alg)) is not None]
        return fitting[0] if len(fitting) == 1 else None

    def verify(self, token: str, header: Mapping[str, object]) -> VerifiedClaims:
        """Return the claims of a JWT with this accepted header that one of the keys signed (RFC 8725 §3).

        Only `alg` and `kid` are taken from the header: keys and links to keys in it are ignored.
        """
        key = self.find(header.get("kid"), str(header["alg"]))
        if key is None:
            raise UnknownKey("none of the published keys fits its key id and algorithm")
        return jose.claims_signed_by(key, token)

    def find_recipient(self, alg: str) -> Key | None:
        """Return the key to encrypt to; one with `use: enc` is preferred (RFC 7517 §4.2)."""
        for place in sorted(
            range(len(self.keys)), key=lambda at: self.keys[at].get("use") != "enc"
        ):
            key = self._key(place, alg)
            if key is not None:
                return key if "kid" in self.keys[place] else replace(key, kid="")
        return None

    def _key(self, place: int, alg: str) -> Key | None:
        if (place, alg) not in self._read:
            self._read[place, alg] = _read_key(self.keys[place], alg)
        return self._read[place, alg]


UNNAMED = ""
"""Among the accepted types: a JWT that names none."""


def accepted_header(
    token: str, *, algorithms: Collection[str], typ: Collection[str]
) -> Mapping[str, object]:
    """Return the header of a JWT if its type, in lower case, and its algorithm are accepted (RFC 8725 §3.1, §3.11)."""
    header = jose.unverified_header(token)
    if "crit" in header:
        raise JwtRefused("it names critical header parameters")
    if jose.type_of(header) not in typ:
        raise JwtRefused(f"its typ is not {' or '.join(sorted(filter(None, typ)))}")
    known = (*SIGNING_ALGORITHMS, *MAC_ALGORITHMS)  # and never `none`
    if header.get("alg") not in known or header["alg"] not in algorithms:
        accepted = [alg for alg in known if alg in algorithms]
        raise JwtRefused(f"its alg is not one of {', '.join(accepted)}")
    return header


def _read_key(entry: Mapping[str, object], alg: str) -> Key | None:
    # A private key is not even read: its check takes half a minute for numbers that were chosen so.
    if "d" in entry or len(str(entry.get("n", ""))) > MAX_MODULUS:
        return None
    if len(str(entry.get("e", ""))) > MAX_EXPONENT:
        return None
    try:
        key = Key.load(entry, alg)
    except ValueError:
        return None
    return None if entry.get("use", key.use) != key.use else key


def audiences_of(aud: object) -> list[object]:
    """Return the values of an `aud` claim, which is one value or an array of them (RFC 7519 §4.1.3)."""
    return cast("list[object]", aud) if isinstance(aud, list) else [aud]


def time_in(claims: Mapping[str, object], name: str) -> float | None:
    """Return a NumericDate, None if the claim is missing; JwtRefused if it is something else (RFC 7519 §2)."""
    value = claims.get(name)
    if value is None or (type(value) in {int, float} and 0 <= cast("float", value) <= LAST_SECOND):
        return cast("float | None", value)
    raise JwtRefused(f"its claim {name} is not a time")


def read_sub(claims: Mapping[str, object]) -> str:
    """Return the `sub`; JwtRefused if it is no text that can name a user here."""
    sub = claims.get("sub")
    if not isinstance(sub, str) or not 0 < len(sub) <= LONGEST_SUBJECT:
        raise JwtRefused(f"sub is not a text of 1 to {LONGEST_SUBJECT} characters")
    return sub


def check_times(claims: Mapping[str, object], *, now: int, clock_skew: int) -> None:
    """Raise JwtRefused if exp, nbf or iat says that the JWT is not valid now (RFC 7519 §4.1.4-4.1.6)."""
    expires, begins, issued = time_in(claims, "exp"), time_in(claims, "nbf"), time_in(claims, "iat")
    if expires is not None and expires <= now - clock_skew:
        raise JwtRefused("it has expired")
    if begins is not None and begins > now + clock_skew:
        raise JwtRefused("it is not valid yet")
    if issued is not None and issued > now + clock_skew:
        raise JwtRefused("it was issued in the future")
