"""Verifying JWTs that somebody else signed, by the keys that they publish (RFC 7517 §5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec
import orjson

from service.keys.jose import JwtRefused, Key, VerifiedClaims, claims_signed_by, unverified_header


class UnknownKey(JwtRefused):
    """None of the keys at hand fits; the signer may have published a new one since."""


@dataclass(frozen=True, slots=True)
class ForeignKeys:
    """A JWK set as it was fetched; a key is read when a signature names it."""

    keys: tuple[dict[str, object], ...]

    @classmethod
    def parse(cls, body: bytes) -> ForeignKeys:
        """Read a JWK set; ValueError where it is none."""
        return msgspec.convert(orjson.loads(body), cls)

    def find(self, kid: object, alg: str) -> Key | None:
        """The key that a header means; without a key id, the only one that fits (OIDC Core §10.1)."""
        named = [one for one in self.keys if kid is None or one.get("kid") == kid]
        fitting = [key for one in named if (key := _key_for(one, alg)) is not None]
        return fitting[0] if len(fitting) == 1 else None


def verify_foreign(
    token: str, keys: ForeignKeys, *, algorithms: Collection[str], typ: Collection[str]
) -> VerifiedClaims:
    """The claims of a JWT that one of these keys signed (RFC 8725 §3).

    Only `alg` and `kid` are taken from the header, and `alg` only if it is on the list;
    a header without `typ` counts as `JWT`.
    """
    header = unverified_header(token)
    if "crit" in header:
        raise JwtRefused("it names critical header parameters")
    if str(header.get("typ", "JWT")).lower() not in typ:
        raise JwtRefused("it is a JWT of another type")
    alg = str(header.get("alg"))
    if alg not in algorithms:
        raise JwtRefused("its signature algorithm is not accepted")
    key = keys.find(header.get("kid"), alg)
    if key is None:
        raise UnknownKey("none of the published keys fits its key id and algorithm")
    return claims_signed_by(key, token)


def _key_for(entry: Mapping[str, object], alg: str) -> Key | None:
    if entry.get("use", "sig") != "sig":
        return None
    try:
        return Key.load(entry, alg)
    except ValueError:
        return None
