"""The formats of password hashes that other systems leave behind, and what each costs to verify."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from math import ceil
from typing import Any, Literal, cast

import msgspec

Scheme = Literal["argon2", "bcrypt", "scrypt", "pbkdf2"]

MAX_STORED = 2000
"""Characters of a stored hash; Keycloak's JSON has 300."""

MAX_WORK = 3_000_000
"""Microseconds, about, that one hash may take: bcrypt with cost 15, PBKDF2-SHA256 with 12 million iterations."""

MAX_MEMORY = 256 << 20
"""Bytes that one hash may take."""

_SALT, _DIGEST = range(1, 129), range(16, 129)
"""Bytes of a salt and of a digest; a shorter digest would fit some other password."""

_DIGEST_SIZES = {"sha1": 20, "sha256": 32, "sha512": 64}
MICROSECONDS = {
    "argon2": 0.7,
    "bcrypt": 70,
    "scrypt": 0.35,
    "sha1": 0.25,
    "sha256": 0.25,
    "sha512": 0.35,
}
"""For one KiB in one pass, one round, one block, one iteration. Only their proportions matter, roughly."""


class RefusalCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of refusing a password, shared by all replicas. It has one member, which depends on the source of the users."""

    decoy: str | None = None
    """Nobody's hash, like the slowest one that was met, where this service compares hashes."""
    seconds: float | None = None
    """How long a refusal took, where another system verifies passwords."""


class UnusableHash(ValueError):
    """The stored text is not a hash in a known format, or would cost too much; the message does not repeat it."""


class PasswordHash(msgspec.Struct, frozen=True, kw_only=True):
    """A stored hash in its parts."""

    scheme: Scheme
    variant: str
    """The type of Argon2, the hash function of PBKDF2; for bcrypt, the function that the password goes through first, if any."""
    cost: tuple[int, ...]
    """Argon2: KiB, passes, lanes, version. bcrypt: the exponent. scrypt: n, r, p. PBKDF2: iterations."""
    salt: bytes
    digest: bytes

    @property
    def shape(self) -> tuple[str, str, tuple[int, ...], int]:
        """All that the time of a verification depends on."""
        return self.scheme, self.variant, self.cost, len(self.digest)

    def write_decoy(self) -> str:
        """Return a hash of the same shape that is nobody's, in a format that `parse_hash` reads."""
        salt, digest = (_encode_base64(bytes(size)) for size in (16, len(self.digest)))
        match self.scheme:
            case "argon2":
                memory, passes, lanes, version = self.cost
                costs = f"v={version}$m={memory},t={passes},p={lanes}"
                return f"$argon2{self.variant}${costs}${salt}${digest}"
            case "bcrypt":
                first = "bcrypt_sha256$" if self.variant else ""
                return f"{first}$2b${self.cost[0]:02}${'.' * 53}"
            case "scrypt":
                n, r, p = self.cost
                return f"$scrypt$ln={n.bit_length() - 1},r={r},p={p}${salt}${digest}"
            case "pbkdf2":
                function = "" if self.variant == "sha1" else f"-{self.variant}"
                return f"$pbkdf2{function}${self.cost[0]}${salt}${digest}"

    @property
    def work(self) -> float:
        """Roughly the microseconds of a verification, to be compared with those of others."""
        match self.scheme:
            case "argon2":
                return self.cost[0] * self.cost[1] * MICROSECONDS["argon2"]
            case "bcrypt":
                return 2.0 ** self.cost[0] * MICROSECONDS["bcrypt"]
            case "scrypt":
                n, r, p = self.cost
                return n * r * p * MICROSECONDS["scrypt"]
            case "pbkdf2":
                blocks = ceil(len(self.digest) / _DIGEST_SIZES[self.variant])
                return self.cost[0] * blocks * MICROSECONDS[self.variant]

    @property
    def memory(self) -> int:
        """The bytes that a verification takes."""
        match self.scheme:
            case "argon2":
                return self.cost[0] << 10
            case "scrypt":
                return 128 * self.cost[1] * (self.cost[0] + self.cost[2])
            case _:
                return 0


def parse_hash(stored: str) -> PasswordHash:
    """Return the parts of a hash; raise UnusableHash."""
    if len(stored) > MAX_STORED:
        raise UnusableHash("is longer than any hash")
    try:
        found = next((found for parse in _FORMATS if (found := parse(stored)) is not None), None)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        found = None
    if found is None or len(found.salt) not in _SALT or len(found.digest) not in _DIGEST:
        raise UnusableHash("is no hash in a known format")
    if min(found.cost) < 1 or max(found.cost) > 1 << 31 or found.work > MAX_WORK:
        raise UnusableHash("takes more than a few seconds to verify")
    if found.memory > MAX_MEMORY:
        raise UnusableHash("takes more than 256 MiB to verify")
    return found


def _argon2(stored: str) -> PasswordHash | None:
    """Read a PHC string of Argon2 (RFC 9106 §3.1), or Django's, which has a word before it."""
    found = re.fullmatch(
        r"(?:argon2)?\$argon2(id|i)\$(?:v=(16|19)\$)?m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,3})\$([\w+/]+)\$([\w+/]+)",
        stored,
    )
    if found is None:
        return None
    variant, version, memory, passes, lanes, salt, digest = found.groups()
    cost = (int(memory), int(passes), int(lanes), int(version or 16))
    return _argon2_of(variant, cost, _decode_base64(salt), _decode_base64(digest))


def _argon2_of(
    variant: str, cost: tuple[int, int, int, int], salt: bytes, digest: bytes
) -> PasswordHash:
    memory, _, lanes, version = cost
    if len(salt) < 8 or memory < 8 * lanes or version not in {16, 19}:  # noqa: PLR2004 - of the algorithm itself
        raise ValueError("Argon2 has no such parameters")
    return PasswordHash(scheme="argon2", variant=variant, cost=cost, salt=salt, digest=digest)


def _bcrypt(stored: str) -> PasswordHash | None:
    """Read a hash of bcrypt, or Django's, which has a word before it."""
    found = re.fullmatch(
        r"(?:bcrypt\$|(bcrypt_sha256)\$)?((\$2[aby]\$)(\d\d)\$[\w./]{22})[\w./]{31}", stored
    )
    if found is None:
        return None
    prehashed, salt, _, exponent = found.groups()
    if int(exponent) < 4:  # noqa: PLR2004 - of the algorithm itself
        raise ValueError("bcrypt has no such cost")
    text = stored[found.start(2) :].encode()
    variant = "sha256" if prehashed else ""
    return PasswordHash(
        scheme="bcrypt", variant=variant, cost=(int(exponent),), salt=salt.encode(), digest=text
    )


def _scrypt(stored: str) -> PasswordHash | None:
    """Read a hash of scrypt as passlib writes it (RFC 7914)."""
    found = re.fullmatch(
        r"\$scrypt\$ln=(\d{1,2}),r=(\d{1,6}),p=(\d{1,6})\$([\w+/]+)\$([\w+/]+)", stored
    )
    if found is None:
        return None
    exponent, r, p = (int(each) for each in found.groups()[:3])
    salt, digest = map(_decode_base64, found.groups()[3:])
    return PasswordHash(
        scheme="scrypt", variant="", cost=(1 << exponent, r, p), salt=salt, digest=digest
    )


def _pbkdf2(stored: str) -> PasswordHash | None:
    """Read a hash of PBKDF2 as passlib writes it (RFC 8018 §5.2), or as a PHC string, which Hydra writes."""
    found = re.fullmatch(
        r"\$pbkdf2(?:-(sha1|sha256|sha512))?\$(?:(\d{1,10})|i=(\d{1,10}),l=(\d{1,3}))\$([\w./+]+)\$([\w./+]+)",
        stored,
    )
    if found is None:
        return None
    function, count, iterations, length, *parts = found.groups()
    salt, digest = (_decode_base64(part.replace(".", "+")) for part in parts)
    if length is not None and int(length) != len(digest):
        raise ValueError("the digest has another length")
    return _pbkdf2_of(function or "sha1", int(count or iterations), salt, digest)


def _django(stored: str) -> PasswordHash | None:
    """Read a hash of PBKDF2 as Django writes it; the salt is a text."""
    found = re.fullmatch(r"pbkdf2_(sha1|sha256)\$(\d{1,10})\$([^$]+)\$([\w+/]+=*)", stored)
    if found is None:
        return None
    function, iterations, salt, digest = found.groups()
    return _pbkdf2_of(function, int(iterations), salt.encode(), _decode_base64(digest))


def _spring(stored: str) -> PasswordHash | None:
    """Read a hash of Spring Security at the costs of its defaults; the name of the encoder comes first."""
    found = re.fullmatch(r"\{(bcrypt|argon2|scrypt|pbkdf2)(@SpringSecurity_v5_8)?\}(.+)", stored)
    if found is None:
        return None
    encoder, is_new, encoded = found.groups()
    if encoder == "pbkdf2":
        size, function, iterations = (16, "sha256", 310_000) if is_new else (8, "sha1", 185_000)
        content = bytes.fromhex(encoded)
        return _pbkdf2_of(function, iterations, content[:size], content[size:])
    if encoder == "scrypt":
        costs, salt, digest = (part.rstrip("=") for part in encoded[1:].split("$"))
        exponent, r, p = bytes.fromhex(costs.zfill(6))
        return _scrypt(f"$scrypt$ln={exponent},r={r},p={p}${salt}${digest}")
    return _bcrypt(encoded) or _argon2(encoded)


def _keycloak(stored: str) -> PasswordHash | None:
    """Read a credential as Keycloak exports it: JSON, whose members may be JSON in a text."""
    if not stored.startswith("{"):
        return None
    exported: Mapping[str, Any] = json.loads(stored)
    how, secret = (_read_json(exported[name]) for name in ("credentialData", "secretData"))
    algorithm, iterations = str(how["algorithm"]), int(how["hashIterations"])
    salt, digest = _decode_base64(secret["salt"]), _decode_base64(secret["value"])
    if algorithm != "argon2":
        function = algorithm.partition("pbkdf2-")[2] if algorithm != "pbkdf2" else "sha1"
        return _pbkdf2_of(function, iterations, salt, digest)
    more: Mapping[str, Any] = how["additionalParameters"]
    memory, lanes = int(more["memory"][0]), int(more["parallelism"][0])
    version = {"1.0": 16, "1.3": 19}[more["version"][0]]
    variant = {"id": "id", "i": "i"}[more["type"][0]]
    return _argon2_of(variant, (memory, iterations, lanes, version), salt, digest)


def _aspnet(stored: str) -> PasswordHash | None:
    """Read a hash of ASP.NET Identity: base64, whose first byte is the version: 0 is v2, 1 is v3."""
    if not re.fullmatch(r"A[A-Za-z0-9+/]+={0,2}", stored):
        return None
    content = _decode_base64(stored)
    if content[0] == 0 and len(content) == 49:  # noqa: PLR2004 - 1, 16 and 32 bytes
        return _pbkdf2_of("sha1", 1000, content[1:17], content[17:])
    if content[0] != 1:
        return None
    function, iterations, length = (int.from_bytes(content[at : at + 4]) for at in (1, 5, 9))
    salt, digest = content[13 : 13 + length], content[13 + length :]
    return _pbkdf2_of(("sha1", "sha256", "sha512")[function], iterations, salt, digest)


def _pbkdf2_of(function: str, iterations: int, salt: bytes, digest: bytes) -> PasswordHash:
    if function not in _DIGEST_SIZES:
        raise ValueError("an unknown hash function")
    return PasswordHash(
        scheme="pbkdf2", variant=function, cost=(iterations,), salt=salt, digest=digest
    )


def _read_json(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", json.loads(value) if isinstance(value, str) else value)


def _decode_base64(text: str) -> bytes:
    unpadded = text.rstrip("=")
    return base64.b64decode(unpadded + "=" * (-len(unpadded) % 4), validate=True)


def _encode_base64(content: bytes) -> str:
    return base64.b64encode(content).decode().rstrip("=")


_FORMATS: tuple[Callable[[str], PasswordHash | None], ...] = (
    _argon2,
    _bcrypt,
    _scrypt,
    _pbkdf2,
    _django,
    _spring,
    _keycloak,
    _aspnet,
)

PASSWORD_COST = "m=19456,t=2,p=1"
"""The cost of a hash that this service makes, as PHC strings write it."""

USUAL = parse_hash(
    f"$argon2id$v=19${PASSWORD_COST}$HQpv9uCcHMi675yh+cTvQQ$V3kjvBuxbAkNcPX/1fjJomSXGtfWQ7zhI+BUTpQbHlY"
)
"""A hash at that cost, of a password that is lost."""


def is_outdated(stored: PasswordHash) -> bool:
    """Return whether it should be replaced: it is not Argon2id, or costs an attacker less than the usual hash."""
    return (stored.scheme, stored.variant) != ("argon2", "id") or stored.work < USUAL.work
