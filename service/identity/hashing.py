"""Computes password hashes of every known format, by the libraries that have them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from hmac import compare_digest
from importlib.util import find_spec

from argon2 import PasswordHasher
from argon2.low_level import Type, hash_secret_raw

from service.clients.rules.keys_and_secrets import secrets_of
from service.config.problem import Finding, warning
from service.config.schema.file import ConfigurationFile
from service.distribution import how_to_install
from service.model.password_hash import MAX_MEMORY, USUAL, PasswordHash, UnusableHash, parse_hash
from service.model.user import HASHED

BCRYPT_READS = 72
"""Bytes of a password; every implementation ignores what follows."""

_MEMORY, _PASSES, _LANES, _ = USUAL.cost
_ARGON2ID = PasswordHasher(time_cost=_PASSES, memory_cost=_MEMORY, parallelism=_LANES)


def hash_password(password: str) -> str:
    """Return the Argon2id hash in PHC form, at the usual cost (RFC 9106 §4)."""
    return _ARGON2ID.hash(password)


def can_verify(stored: PasswordHash) -> bool:
    """Return whether the package is installed that knows this kind of hash."""
    return stored.scheme != "bcrypt" or find_spec("bcrypt") is not None


def hashes_can_be_verified(file: ConfigurationFile) -> Iterator[Finding]:
    """The package is installed by which the users of the file sign in, and give their user codes."""
    for name, cannot in HASHED.items():
        unusable = list[int]()
        for at, user in enumerate(file.users.list):
            stored: str | None = getattr(user, name)
            with suppress(UnusableHash):  # another rule says so
                if stored is not None and not can_verify(parse_hash(stored)):
                    unusable.append(at)
        if unusable:
            others = f", nor can {len(unusable) - 1} more" if unusable[1:] else ""
            needs = "needs the package bcrypt, which is not installed"
            message = f"{needs}: this user cannot {cannot}{others}"
            location = ("users", "list", unusable[0], name)
            yield warning(location, message, how_to_install("bcrypt"))


def secrets_can_be_verified(file: ConfigurationFile) -> Iterator[Finding]:
    """The package is installed by which slow hashes of the secrets of clients and APIs are verified."""
    for place, secret in secrets_of(file):
        with suppress(UnusableHash):  # another rule says so
            if secret.hash is not None and not can_verify(parse_hash(secret.hash)):
                message = "needs the package bcrypt, which is not installed: it fits no secret"
                yield warning((*place, "hash"), message, how_to_install("bcrypt"))


def matches(password: str, stored: PasswordHash) -> bool:
    """Return whether the hash is the password's; takes as long as its cost says."""
    return compare_digest(_derive(password.encode(), stored), stored.digest)


def _derive(password: bytes, stored: PasswordHash) -> bytes:
    salt, length = stored.salt, len(stored.digest)
    match stored.scheme:
        case "argon2":
            kinds = {"id": Type.ID, "i": Type.I}
            memory, passes, lanes, version = stored.cost
            kind = kinds[stored.variant]
            return hash_secret_raw(password, salt, passes, memory, lanes, length, kind, version)
        case "bcrypt":
            return _bcrypt(password, stored)
        case "scrypt":
            n, r, p = stored.cost
            return hashlib.scrypt(
                password, salt=salt, n=n, r=r, p=p, maxmem=2 * MAX_MEMORY, dklen=length
            )
        case "pbkdf2":
            return hashlib.pbkdf2_hmac(stored.variant, password, salt, stored.cost[0], length)


def _bcrypt(password: bytes, stored: PasswordHash) -> bytes:
    """Return the whole text of the hash; Django hashes the password with SHA-256 first."""
    import bcrypt  # noqa: PLC0415 - an extra

    if stored.variant == "sha256":
        password = hashlib.sha256(password).hexdigest().encode()
    return bcrypt.hashpw(password[:BCRYPT_READS], stored.salt)
