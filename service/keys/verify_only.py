"""Reads the public keys of the server before this one, which verify its tokens until a time (RFC 7517 §5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from service.clock import clock
from service.config.named_files import find_file_problem
from service.config.problem import Finding, warning
from service.config.schema.file import ConfigurationFile
from service.config.schema.server import VerifyOnly
from service.keys.algorithms import PRIVATE_MEMBERS, SIGNING_ALGORITHMS
from service.keys.foreign_keys import MAX_EXPONENT, MAX_MODULUS, ForeignKeys
from service.keys.jose import Key
from service.keys.schedule import KeyFileError

_USUAL: Mapping[object, str] = {
    "RSA": "RS256",
    "P-256": "ES256",
    "P-384": "ES384",
    "P-521": "ES512",
    "Ed25519": "EdDSA",
}
"""The algorithm of a key that names none, by its curve or type."""


class VerifyOnlyKey(msgspec.Struct, frozen=True):
    key: Key
    until: int
    """The time from which on it verifies nothing."""


class VerifyOnlyKeys:
    """The keys that the files hold; a reload reads them again."""

    def __init__(self, entries: Sequence[VerifyOnly] = ()) -> None:
        """Read all files, or raise KeyFileError for the first that is wrong."""
        self.keys: Sequence[VerifyOnlyKey] = ()
        self.read_files(entries)

    def read_files(self, entries: Sequence[VerifyOnly]) -> None:
        """Take the keys that these files hold now; if one is wrong (KeyFileError), keep the present keys."""
        self.keys = [
            VerifyOnlyKey(key, entry.until) for entry in entries for key in read_verify_only(entry)
        ]


def read_verify_only(entry: VerifyOnly) -> Sequence[Key]:
    """Return the keys of an entry; KeyFileError says which one is wrong."""
    keys: dict[str, Key] = {}
    for key in _read(entry):
        if key.kid in keys:
            raise KeyFileError(f"{entry.jwks}: two keys have the key id {key.kid}")
        keys[key.kid] = key
    if not keys:
        raise KeyFileError(f"{entry.jwks}: holds no key that verifies signatures")
    return tuple(keys.values())


def keys_to_verify_by_are_public(file: ConfigurationFile) -> Iterator[Finding]:
    """The keys of the server before are public, fit their algorithms, have ids of their own, and are needed still."""
    holders: dict[str, int] = {}
    for at, entry in enumerate(file.signing.verify_only):
        place = ("signing", "verify_only", at)
        if entry.until <= clock():
            message = "this time has passed: the keys are not published, and verify nothing"
            yield warning((*place, "until"), message, "remove the entry")
        if find_file_problem(entry.jwks):
            continue
        try:
            keys = read_verify_only(entry)
        except KeyFileError as error:
            yield Finding((*place, "jwks"), str(error))
            continue
        for kid in [key.kid for key in keys if key.kid in holders]:
            first = ("signing", "verify_only", holders[kid], "jwks")
            message = f"{entry.jwks}: another file has a key with the key id {kid}"
            yield Finding((*place, "jwks"), message, first=first)
        holders |= {key.kid: at for key in keys if key.kid not in holders}


def _read(entry: VerifyOnly) -> Iterator[Key]:
    try:
        members = ForeignKeys.parse(entry.jwks.read_bytes()).keys
    except OSError as error:
        raise KeyFileError(f"{entry.jwks}: {error.strerror or 'cannot be read'}") from error
    except ValueError as error:
        raise KeyFileError(f"{entry.jwks}: is no JWK set (RFC 7517 §5): {error}") from error
    for at, jwk in enumerate(members):
        kid, use = jwk.get("kid"), jwk.get("use", "sig")
        name = f"the key {kid}" if isinstance(kid, str) and kid else f"keys[{at}]"
        reason = None if use == "enc" else _find_fault(jwk)
        if not PRIVATE_MEMBERS.isdisjoint(jwk):
            reason = "is private or symmetric; leave only the public part in the file"
        if reason is not None:
            raise KeyFileError(f"{entry.jwks}: {name} {reason}")
        if use != "enc":
            yield _load(jwk, f"{entry.jwks}: {name}")


def _find_fault(jwk: Mapping[str, object]) -> str | None:
    """Return what is wrong with a public key that is to verify signatures; None if it can be read."""
    if not isinstance(jwk.get("kid"), str) or not jwk["kid"]:
        return "has no kid, by which tokens name it"
    if len(str(jwk.get("n", ""))) > MAX_MODULUS or len(str(jwk.get("e", ""))) > MAX_EXPONENT:
        return "is longer than any key that this service computes with"
    alg = _find_algorithm(jwk)
    if alg not in SIGNING_ALGORITHMS:
        return f"is for {alg or 'no algorithm'}; known: {', '.join(SIGNING_ALGORITHMS)}"
    return None


def _find_algorithm(jwk: Mapping[str, object]) -> object:
    usual = _USUAL.get(str(jwk.get("crv")), _USUAL.get(str(jwk.get("kty"))))
    return jwk.get("alg") or usual


def _load(jwk: Mapping[str, object], name: str) -> Key:
    try:
        return Key.load(jwk, str(_find_algorithm(jwk)))
    except ValueError as error:
        raise KeyFileError(f"{name}: {error}") from error


def current(keys: Iterable[VerifyOnlyKey], now: int) -> dict[str, VerifyOnlyKey]:
    """Return those whose time is not over, by their key id; the first of two with one id counts."""
    found: dict[str, VerifyOnlyKey] = {}
    for each in keys:
        if now < each.until:
            found.setdefault(each.key.kid, each)
    return found
